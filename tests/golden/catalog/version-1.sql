-- A catalog that wheelyard-registry 0.1.0 made, with three uploads and a tombstone: what every later program must be able to open.
BEGIN TRANSACTION;
CREATE TABLE blob (
    sha256     TEXT PRIMARY KEY CHECK (length(sha256) = 64),
    size_bytes INTEGER NOT NULL CHECK (size_bytes >= 0)
) STRICT, WITHOUT ROWID;
INSERT INTO "blob" VALUES('4b8380e2a148c205175da3ca390d77370d8b8181fcc12184b6caafd54ddd15e2',115);
INSERT INTO "blob" VALUES('529eabb9eefcbeb3c0167b20c6d227e3bfb4da6bad8bafe224b812e19db0b5cd',116);
INSERT INTO "blob" VALUES('5f3dbd0d548a2cf366d73e534feb69f93cf67adc1defadbe49b18088aaa35fe7',928);
INSERT INTO "blob" VALUES('94127f709d523a791c0b5ab7719f5e177b5b5e1fc3886382380a69c00c8483f5',116);
INSERT INTO "blob" VALUES('aad6cfe1d6e6e5515a5502b042dad0ce51fd03637bf7cb025e7255541bd25bd1',915);
INSERT INTO "blob" VALUES('ac77fba0e4ab1d54547eb4d3548cf5f7e78f70a988b7363008daab229dd8f627',930);
CREATE TABLE event (
    serial       INTEGER PRIMARY KEY AUTOINCREMENT,
    kind         TEXT NOT NULL,
    time         INTEGER NOT NULL,  -- microseconds since 1970
    index_name   TEXT NOT NULL,
    project      TEXT NOT NULL,
    filename     TEXT NOT NULL,
    details_json TEXT NOT NULL
) STRICT;
INSERT INTO "event" VALUES(1,'file_added',1795174138455420,'main','six-pack','six_pack-1.0-py3-none-any.whl','{"format":"wheelyard.file/1","index":"main","project":"six-pack","filename":"six_pack-1.0-py3-none-any.whl","version":"1.0","sha256":"ac77fba0e4ab1d54547eb4d3548cf5f7e78f70a988b7363008daab229dd8f627","size_bytes":930,"metadata_sha256":"94127f709d523a791c0b5ab7719f5e177b5b5e1fc3886382380a69c00c8483f5","metadata_size_bytes":116,"requires_python":">=3.9","upload_time":1795174138455420,"uploaded_by":"agent","yanked":false,"yanked_reason":"","facts":{"size_bytes":930,"unpacked_bytes":479,"members":4,"elf_files":0,"tags":["py3-none-any"],"root_is_purelib":true,"requires_python":">=3.9","symbol_floors":{},"machines":[],"needed_external":[],"cuda_sm":[],"cuda_ptx":[],"hip_gfx":[]}}');
INSERT INTO "event" VALUES(2,'file_added',1795174138642750,'main','six-pack','six_pack-1.1-py3-none-any.whl','{"format":"wheelyard.file/1","index":"main","project":"six-pack","filename":"six_pack-1.1-py3-none-any.whl","version":"1.1","sha256":"5f3dbd0d548a2cf366d73e534feb69f93cf67adc1defadbe49b18088aaa35fe7","size_bytes":928,"metadata_sha256":"529eabb9eefcbeb3c0167b20c6d227e3bfb4da6bad8bafe224b812e19db0b5cd","metadata_size_bytes":116,"requires_python":">=3.9","upload_time":1795174138642750,"uploaded_by":"agent","yanked":false,"yanked_reason":"","facts":{"size_bytes":928,"unpacked_bytes":479,"members":4,"elf_files":0,"tags":["py3-none-any"],"root_is_purelib":true,"requires_python":">=3.9","symbol_floors":{},"machines":[],"needed_external":[],"cuda_sm":[],"cuda_ptx":[],"hip_gfx":[]}}');
INSERT INTO "event" VALUES(3,'file_added',1795174138914827,'main','torch','torch-2.4.0-py3-none-any.whl','{"format":"wheelyard.file/1","index":"main","project":"torch","filename":"torch-2.4.0-py3-none-any.whl","version":"2.4.0","sha256":"aad6cfe1d6e6e5515a5502b042dad0ce51fd03637bf7cb025e7255541bd25bd1","size_bytes":915,"metadata_sha256":"4b8380e2a148c205175da3ca390d77370d8b8181fcc12184b6caafd54ddd15e2","metadata_size_bytes":115,"requires_python":">=3.9","upload_time":1795174138914827,"uploaded_by":"agent","yanked":false,"yanked_reason":"","facts":{"size_bytes":915,"unpacked_bytes":472,"members":4,"elf_files":0,"tags":["py3-none-any"],"root_is_purelib":true,"requires_python":">=3.9","symbol_floors":{},"machines":[],"needed_external":[],"cuda_sm":[],"cuda_ptx":[],"hip_gfx":[]}}');
CREATE TABLE file (
    id              INTEGER PRIMARY KEY,  -- never leaves the database
    index_name      TEXT NOT NULL,
    project         TEXT NOT NULL,
    filename        TEXT NOT NULL,
    version         TEXT NOT NULL,
    sha256          TEXT NOT NULL REFERENCES blob (sha256),
    metadata_sha256 TEXT NOT NULL REFERENCES blob (sha256),
    requires_python TEXT NOT NULL,
    upload_time     INTEGER NOT NULL,
    uploaded_by     TEXT NOT NULL,
    yanked          INTEGER NOT NULL CHECK (yanked IN (0, 1)),
    yanked_reason   TEXT NOT NULL,
    facts_json      TEXT NOT NULL,
    added_serial    INTEGER NOT NULL REFERENCES event (serial),
    UNIQUE (index_name, filename),
    FOREIGN KEY (index_name, project) REFERENCES project (index_name, name)
) STRICT;
INSERT INTO "file" VALUES(1,'main','six-pack','six_pack-1.0-py3-none-any.whl','1.0','ac77fba0e4ab1d54547eb4d3548cf5f7e78f70a988b7363008daab229dd8f627','94127f709d523a791c0b5ab7719f5e177b5b5e1fc3886382380a69c00c8483f5','>=3.9',1795174138455420,'agent',0,'','{"size_bytes":930,"unpacked_bytes":479,"members":4,"elf_files":0,"tags":["py3-none-any"],"root_is_purelib":true,"requires_python":">=3.9","symbol_floors":{},"machines":[],"needed_external":[],"cuda_sm":[],"cuda_ptx":[],"hip_gfx":[]}',1);
INSERT INTO "file" VALUES(2,'main','six-pack','six_pack-1.1-py3-none-any.whl','1.1','5f3dbd0d548a2cf366d73e534feb69f93cf67adc1defadbe49b18088aaa35fe7','529eabb9eefcbeb3c0167b20c6d227e3bfb4da6bad8bafe224b812e19db0b5cd','>=3.9',1795174138642750,'agent',0,'','{"size_bytes":928,"unpacked_bytes":479,"members":4,"elf_files":0,"tags":["py3-none-any"],"root_is_purelib":true,"requires_python":">=3.9","symbol_floors":{},"machines":[],"needed_external":[],"cuda_sm":[],"cuda_ptx":[],"hip_gfx":[]}',2);
INSERT INTO "file" VALUES(3,'main','torch','torch-2.4.0-py3-none-any.whl','2.4.0','aad6cfe1d6e6e5515a5502b042dad0ce51fd03637bf7cb025e7255541bd25bd1','4b8380e2a148c205175da3ca390d77370d8b8181fcc12184b6caafd54ddd15e2','>=3.9',1795174138914827,'agent',0,'','{"size_bytes":915,"unpacked_bytes":472,"members":4,"elf_files":0,"tags":["py3-none-any"],"root_is_purelib":true,"requires_python":">=3.9","symbol_floors":{},"machines":[],"needed_external":[],"cuda_sm":[],"cuda_ptx":[],"hip_gfx":[]}',3);
CREATE TABLE project (
    index_name TEXT NOT NULL,
    name       TEXT NOT NULL,  -- normalised (PEP 503)
    PRIMARY KEY (index_name, name)
) STRICT, WITHOUT ROWID;
INSERT INTO "project" VALUES('main','six-pack');
INSERT INTO "project" VALUES('main','torch');
CREATE TABLE token (
    id            TEXT PRIMARY KEY,
    secret_sha256 TEXT NOT NULL CHECK (length(secret_sha256) = 64),
    name          TEXT NOT NULL,
    indexes_json  TEXT NOT NULL,
    projects_json TEXT NOT NULL,
    actions_json  TEXT NOT NULL,
    created       INTEGER NOT NULL,
    expires       INTEGER NOT NULL,  -- 0: never
    revoked       INTEGER NOT NULL CHECK (revoked IN (0, 1))
) STRICT, WITHOUT ROWID;
INSERT INTO "token" VALUES('wy_e3e23f816df5','cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc','agent','["main"]','["*"]','["upload"]',1795174122413753,0,0);
CREATE TABLE tombstone (
    index_name TEXT NOT NULL,
    filename   TEXT NOT NULL,
    sha256     TEXT NOT NULL,
    time       INTEGER NOT NULL,
    PRIMARY KEY (index_name, filename)
) STRICT, WITHOUT ROWID;
INSERT INTO "tombstone" VALUES('main','six_pack-0.9-py3-none-any.whl','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',1795174122413753);
CREATE INDEX file_by_project ON file (index_name, project);
CREATE INDEX file_by_sha256 ON file (sha256);
CREATE INDEX file_by_metadata_sha256 ON file (metadata_sha256);
COMMIT;
PRAGMA user_version = 1;
