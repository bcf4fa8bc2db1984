import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, it } from "vitest";
import { CANARY, keysOnDisk } from "../runs/left-on-disk";

const KEY = `${CANARY}0b2f1c9e`;
let storage = "";
beforeEach(() => {
  storage = mkdtempSync(path.join(tmpdir(), "massgen-disk-"));
});
afterEach(() => rmSync(storage, { recursive: true }));

/**
 * A database that contains a session id and this text. It stays open, so that all content is in the
 * write-ahead log.
 */
function database(file: string, text: string): DatabaseSync {
  mkdirSync(path.dirname(path.join(storage, file)), { recursive: true });
  const open = new DatabaseSync(path.join(storage, file));
  open.exec("PRAGMA journal_mode = WAL; CREATE TABLE rows (text TEXT)");
  for (const row of ["session_01", text]) open.prepare("INSERT INTO rows VALUES (?)").run(row);
  return open;
}

it.each([
  { name: "no problem if there is no key", wrong: [] },
  {
    name: "a key in an object's log",
    inObject: KEY,
    wrong: ["I17: an agents' key is in do/sessions/1.sqlite-wal"],
  },
  {
    name: "a key in D1",
    inD1: `{"api_key":"${KEY}"}`,
    wrong: ["I17: an agents' key is in d1/sessions/1.sqlite-wal"],
  },
  {
    name: "a key in R2",
    inR2: `.env: ${KEY}`,
    wrong: ["I17: an agents' key is in r2/files/blobs/1"],
  },
])(
  "in the files of a service, finds $name",
  async ({ inObject = "", inD1 = "", inR2 = "", wrong }) => {
    const open = [
      database("do/sessions/1.sqlite", inObject),
      database("d1/sessions/1.sqlite", inD1),
    ];
    mkdirSync(path.join(storage, "r2/files/blobs"), { recursive: true });
    writeFileSync(path.join(storage, "r2/files/blobs/1"), inR2);
    expect(await keysOnDisk(storage)).toEqual(wrong);
    for (const one of open) one.close();
  },
);

it("reports folders without a session id, where keys would not be found either", async () => {
  database("do/sessions/1.sqlite", "").close();
  expect(await keysOnDisk(storage)).toEqual([
    "I17: nothing under d1 names a session, so no key could be found there",
  ]);
});
