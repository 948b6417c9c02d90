"""Archives (.npz) that are read in no more memory than they take on the disk, whoever made them."""

import zipfile


def check_stored(archive: zipfile.ZipFile, size: int) -> dict[str, zipfile.ZipInfo]:
    """The members by name, refused unless each is stored as it is, within the size of the file, and no name occurs twice.

    A compressed member could unpack to any size.
    """
    members: dict[str, zipfile.ZipInfo] = {}
    for member in archive.infolist():
        if member.filename in members:
            raise ValueError("two members have the same name")
        if member.compress_type != zipfile.ZIP_STORED or not member.file_size == member.compress_size <= size:
            raise ValueError(f"its member {member.filename[:80]!r} is not stored as it is")
        members[member.filename] = member
    return members
