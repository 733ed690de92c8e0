import pytest

from symgrad.replacing import replacing


def test_a_file_is_replaced_whole_or_stays(tmp_path):
    target, temporary = tmp_path / "a", tmp_path / "b"
    with replacing(str(target), str(temporary)) as file:
        file.write(b"first")
        assert not target.exists()
    assert target.read_bytes() == b"first"

    def fails():
        with replacing(str(target), str(temporary)) as file:
            file.write(b"half")
            raise KeyError

    with pytest.raises(KeyError):
        fails()
    assert target.read_bytes() == b"first"
    assert not temporary.exists()
