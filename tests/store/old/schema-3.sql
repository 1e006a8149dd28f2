PRAGMA application_id = 1129535777;
PRAGMA user_version = 3;
BEGIN TRANSACTION;
CREATE TABLE audit (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            at INTEGER NOT NULL,
            user TEXT NOT NULL,
            client TEXT,
            action TEXT NOT NULL,
            scope TEXT,
            target TEXT,
            detail TEXT
        );
INSERT INTO "audit" VALUES(1,1740830400123,'me','cli','delete',NULL,NULL,NULL);
CREATE TABLE batches (
            scope INTEGER NOT NULL,
            id TEXT NOT NULL,
            PRIMARY KEY (scope, id)
        ) WITHOUT ROWID;
INSERT INTO "batches" VALUES(1,'b1');
INSERT INTO "batches" VALUES(1,'b2');
INSERT INTO "batches" VALUES(2,'b1');
CREATE TABLE blocked_facts (
            scope_key TEXT NOT NULL,
            fact_id TEXT NOT NULL,
            PRIMARY KEY (scope_key, fact_id)
        ) WITHOUT ROWID;
INSERT INTO "blocked_facts" VALUES('repository:r1','f1');
CREATE TABLE entities (
            number INTEGER PRIMARY KEY,
            scope INTEGER NOT NULL,
            id TEXT NOT NULL,
            name TEXT NOT NULL,
            type TEXT,
            aliases TEXT NOT NULL,
            UNIQUE (scope, id)
        );
INSERT INTO "entities" VALUES(1,1,'e-app','app',NULL,'[]');
INSERT INTO "entities" VALUES(2,1,'e-mysql','mysql',NULL,'[]');
INSERT INTO "entities" VALUES(3,1,'e-数据库','数据库',NULL,'[]');
INSERT INTO "entities" VALUES(4,1,'e-k8s','k8s','tool','["Kubernetes"]');
INSERT INTO "entities" VALUES(5,2,'e-app','app',NULL,'[]');
INSERT INTO "entities" VALUES(6,2,'e-redis','redis',NULL,'[]');
CREATE TABLE extracted_turns (id TEXT PRIMARY KEY) WITHOUT ROWID;
INSERT INTO "extracted_turns" VALUES('t0');
INSERT INTO "extracted_turns" VALUES('t1');
CREATE TABLE facts (
            number INTEGER PRIMARY KEY,
            scope INTEGER NOT NULL,
            id TEXT NOT NULL,
            subject_id TEXT NOT NULL,
            predicate TEXT NOT NULL,
            object_id TEXT NOT NULL,
            confidence REAL NOT NULL,
            confirmations INTEGER NOT NULL,
            intervals TEXT NOT NULL,
            current INTEGER NOT NULL,
            last_start INTEGER NOT NULL,
            said_by TEXT,
            first_stored_at INTEGER NOT NULL,
            client TEXT NOT NULL,
            stored_at INTEGER NOT NULL,
            session TEXT,
            user TEXT,
            model TEXT,
            speaker TEXT,
            origin TEXT,
            UNIQUE (scope, id)
        );
INSERT INTO "facts" VALUES(1,1,'app|USES|数据库','e-app','USES','e-数据库',0.8,1,'[[1740830400123,null]]',1,1740830400123,'user',1740830400123,'claude-code',1740830400123,'s1','me','m','assistant','o');
INSERT INTO "facts" VALUES(2,1,'app|USES|mysql','e-app','USES','e-mysql',0.8,1,'[[1740830400123,1740830700123]]',0,1740830400123,'user',1740830400123,'claude-code',1740830400123,'s1','me','m','assistant','o');
INSERT INTO "facts" VALUES(3,2,'app|DEPENDS_ON|redis','e-app','DEPENDS_ON','e-redis',0.8,1,'[[1740830400123,null]]',1,1740830400123,'user',1740830400123,'claude-code',1740830400123,'s1','me','m','assistant','o');
CREATE TABLE former_remotes (
            repository TEXT NOT NULL,
            place INTEGER NOT NULL,
            remote TEXT NOT NULL,
            PRIMARY KEY (repository, place)
        ) WITHOUT ROWID;
INSERT INTO "former_remotes" VALUES('r1',0,'h/o/old');
CREATE TABLE jobs (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            session_id TEXT NOT NULL,
            repo_id TEXT NOT NULL,
            user TEXT NOT NULL,
            client TEXT NOT NULL,
            state TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            transcript TEXT,
            start INTEGER NOT NULL,
            end INTEGER NOT NULL,
            last_turn_id TEXT,
            attempts INTEGER NOT NULL,
            counts TEXT NOT NULL,
            duration_ms INTEGER,
            model TEXT,
            error TEXT
        );
INSERT INTO "jobs" VALUES(1,'j1','s1','r1','me','claude-code','done',1740830400123,NULL,0,0,NULL,0,'{"kept": 1}',NULL,NULL,NULL);
CREATE TABLE names (
            scope INTEGER NOT NULL,
            key TEXT NOT NULL,
            entity_id TEXT NOT NULL,
            display TEXT NOT NULL,
            display_said_at INTEGER NOT NULL,
            display_batch TEXT NOT NULL,
            display_place INTEGER NOT NULL,
            type TEXT,
            type_said_at INTEGER,
            type_batch TEXT,
            type_place INTEGER,
            PRIMARY KEY (scope, key)
        ) WITHOUT ROWID;
INSERT INTO "names" VALUES(1,'app','e-app','app',1740830400123,'b0',0,NULL,NULL,NULL,NULL);
INSERT INTO "names" VALUES(1,'k8s','e-k8s','k8s',1740830400123,'b0',0,'tool',1740830460123,'b1',1);
INSERT INTO "names" VALUES(1,'kubernetes','e-k8s','kubernetes',1740830400123,'b0',0,'tool',1740830460123,'b1',1);
INSERT INTO "names" VALUES(1,'mysql','e-mysql','mysql',1740830400123,'b0',0,NULL,NULL,NULL,NULL);
INSERT INTO "names" VALUES(1,'数据库','e-数据库','数据库',1740830400123,'b0',0,NULL,NULL,NULL,NULL);
INSERT INTO "names" VALUES(2,'app','e-app','app',1740830400123,'b0',0,NULL,NULL,NULL,NULL);
INSERT INTO "names" VALUES(2,'redis','e-redis','redis',1740830400123,'b0',0,NULL,NULL,NULL,NULL);
CREATE TABLE openers (
            token TEXT PRIMARY KEY,
            pid INTEGER NOT NULL,
            opened_at INTEGER NOT NULL
        ) WITHOUT ROWID;
CREATE TABLE repositories (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            name TEXT NOT NULL,
            root TEXT,
            remote TEXT
        );
INSERT INTO "repositories" VALUES(1,'r1','app','/app','h/o/app');
CREATE TABLE review_items (
            id TEXT PRIMARY KEY,
            scope_key TEXT NOT NULL,
            session_id TEXT NOT NULL,
            subject TEXT NOT NULL,
            predicate TEXT NOT NULL,
            object TEXT NOT NULL,
            confidence REAL NOT NULL,
            said_at INTEGER NOT NULL,
            created_at INTEGER NOT NULL
        ) WITHOUT ROWID;
CREATE TABLE scopes (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            key TEXT NOT NULL UNIQUE,
            revision INTEGER NOT NULL,
            entities INTEGER NOT NULL DEFAULT 0,
            facts INTEGER NOT NULL DEFAULT 0,
            current_facts INTEGER NOT NULL DEFAULT 0
        , entity_words INTEGER NOT NULL DEFAULT 0, fact_words INTEGER NOT NULL DEFAULT 0);
INSERT INTO "scopes" VALUES(1,'repository:r1',2,4,2,1,10,7);
INSERT INTO "scopes" VALUES(2,'personal:me@r1',1,2,1,1,2,5);
CREATE TABLE sessions (
            id TEXT PRIMARY KEY,
            client TEXT NOT NULL,
            client_session TEXT NOT NULL,
            repo_id TEXT NOT NULL,
            user TEXT NOT NULL,
            state TEXT NOT NULL,
            registered_at INTEGER NOT NULL,
            expires_at INTEGER NOT NULL,
            last_seen_at INTEGER NOT NULL,
            ended_at INTEGER,
            carried_at INTEGER,
            transcript TEXT,
            cwd TEXT
        ) WITHOUT ROWID;
INSERT INTO "sessions" VALUES('s1','claude-code','c1','r1','me','ended',1740830400123,1741430340123,1740830460123,1740830520123,NULL,NULL,NULL);
CREATE TABLE settings (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO "settings" VALUES('analysis',1);
CREATE TABLE statements (
            scope INTEGER NOT NULL,
            said_at INTEGER NOT NULL,
            batch_id TEXT NOT NULL,
            place INTEGER NOT NULL,
            subject TEXT NOT NULL,
            predicate TEXT NOT NULL,
            object TEXT NOT NULL,
            subject_as TEXT NOT NULL,
            object_as TEXT NOT NULL,
            subject_type TEXT,
            object_type TEXT,
            confidence REAL NOT NULL,
            replaces INTEGER NOT NULL,
            closes INTEGER NOT NULL,
            fact_id TEXT,
            client TEXT NOT NULL,
            stored_at INTEGER NOT NULL,
            session TEXT,
            user TEXT,
            model TEXT,
            speaker TEXT,
            origin TEXT,
            PRIMARY KEY (scope, said_at, batch_id, place)
        ) WITHOUT ROWID;
INSERT INTO "statements" VALUES(1,1740830400123,'b1',0,'app','USES','数据库','app','数据库',NULL,'tool',0.8,1,0,'app|USES|数据库','claude-code',1740830400123,NULL,NULL,NULL,'user',NULL);
INSERT INTO "statements" VALUES(1,1740830400123,'b1',1,'app','USES','mysql','app','mysql',NULL,'tool',0.8,1,0,'app|USES|mysql','claude-code',1740830400123,NULL,NULL,NULL,'user',NULL);
INSERT INTO "statements" VALUES(1,1740830580123,'b2',0,'k8s','SAME_AS','kubernetes','','',NULL,NULL,0.9,0,0,NULL,'claude-code',1740830400123,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "statements" VALUES(2,1740830400123,'b1',0,'app','DEPENDS_ON','redis','app','redis',NULL,'tool',0.8,1,0,'app|DEPENDS_ON|redis','claude-code',1740830400123,NULL,NULL,NULL,'user',NULL);
CREATE TABLE watermarks (
            session_id TEXT PRIMARY KEY,
            offset INTEGER NOT NULL,
            turn_id TEXT
        ) WITHOUT ROWID;
INSERT INTO "watermarks" VALUES('s1',10,'t1');
CREATE INDEX names_of_entity ON names (scope, entity_id);
CREATE INDEX facts_of_group ON facts (scope, subject_id, predicate);
CREATE INDEX facts_of_object ON facts (scope, object_id);
CREATE INDEX best_of_subject ON facts
            (scope, subject_id, confidence DESC, confirmations DESC, last_start DESC, id)
            WHERE current = 1;
CREATE INDEX best_of_object ON facts
            (scope, object_id, confidence DESC, confirmations DESC, last_start DESC, id)
            WHERE current = 1;
CREATE INDEX best_of_scope ON facts
            (scope, confidence DESC, confirmations DESC, last_start DESC, id)
            WHERE current = 1;
CREATE INDEX facts_by_age ON facts (scope, last_start DESC, id);
CREATE INDEX statements_of_fact ON statements (scope, fact_id);
CREATE INDEX same_as_subject ON statements (scope, subject)
            WHERE predicate = 'SAME_AS';
CREATE INDEX statements_by_origin ON statements (scope, origin, fact_id)
            WHERE origin IS NOT NULL;
CREATE INDEX repositories_by_remote ON repositories (remote);
CREATE INDEX repositories_by_root ON repositories (root);
CREATE INDEX former_by_remote ON former_remotes (remote);
CREATE INDEX sessions_by_client ON sessions (client, client_session);
CREATE INDEX sessions_of_repo ON sessions (repo_id, registered_at DESC, id DESC);
CREATE INDEX open_sessions ON sessions (expires_at)
            WHERE state IN ('active', 'ended');
CREATE INDEX jobs_by_age ON jobs (created_at, number);
CREATE INDEX review_by_age ON review_items (scope_key, created_at, id);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('scopes',2);
INSERT INTO "sqlite_sequence" VALUES('repositories',1);
INSERT INTO "sqlite_sequence" VALUES('jobs',1);
INSERT INTO "sqlite_sequence" VALUES('audit',1);
CREATE VIRTUAL TABLE entity_words
            USING fts5 (words, tokenize = 'ascii', detail = none, columnsize = 0);
INSERT INTO entity_words (rowid, words) VALUES (1, '1zapp');
INSERT INTO entity_words (rowid, words) VALUES (2, '1zmysql');
INSERT INTO entity_words (rowid, words) VALUES (3, '1z数 1z据 1z库 1z数据 1z据库');
INSERT INTO entity_words (rowid, words) VALUES (4, '1zk8s 1ztool 1zkubernet');
INSERT INTO entity_words (rowid, words) VALUES (5, '2zapp');
INSERT INTO entity_words (rowid, words) VALUES (6, '2zredis');
CREATE VIRTUAL TABLE fact_words
            USING fts5 (words, tokenize = 'ascii', detail = none, columnsize = 0);
INSERT INTO fact_words (rowid, words) VALUES (1, '1zapp 1zuse 1z数 1z据 1z库 1z数据 1z据库');
INSERT INTO fact_words (rowid, words) VALUES (3, '2zapp 2zdepend 2zon 2zdependson 2zredis');
COMMIT;
