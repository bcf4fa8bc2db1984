import { DatabaseSync } from "node:sqlite";
import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { insertKey, listKeys, literal, revokeKey, setLimits } from "../../d1/key-statements";

const database = () => {
  const db = new DatabaseSync(":memory:");
  for (const file of readdirSync("migrations").sort())
    db.exec(readFileSync(`migrations/${file}`, "utf8"));
  return db;
};
const key = {
  id: "01",
  tenant: "acme",
  name: "n",
  secretHash: "h",
  scopes: "run",
  now: 5,
  expiresAt: null,
};

it.each([
  "plain",
  "it's",
  "'); DROP TABLE api_keys;--",
  "''",
  '"',
  "\\",
  "\\'",
  "日本",
  "--",
  "%s ?1 :a",
])("stores the text %j unchanged", (name) => {
  const db = database();
  db.exec(insertKey({ ...key, name }));
  expect(db.prepare(listKeys(null)).all()).toEqual([
    expect.objectContaining({ name, tenant: "acme", expires_at: null }),
  ]);
});

it.each(["a\0b", "\ud800"])("throws for the text %j, which the database cannot store", (text) => {
  expect(() => literal(text)).toThrow("NUL or lone surrogates");
});

it.each([Number.NaN, Number.POSITIVE_INFINITY])("throws for the number %s", (value) => {
  expect(() => literal(value)).toThrow("finite");
});

it("lists the keys of one tenant only, newest first", () => {
  const db = database();
  for (const [id, tenant] of [
    ["01", "acme"],
    ["02", "other"],
    ["03", "acme"],
  ] as const)
    db.exec(insertKey({ ...key, id, tenant }));
  expect(
    db
      .prepare(listKeys("acme"))
      .all()
      .map(({ id }) => id),
  ).toEqual(["03", "01"]);
});

it("keeps the time of the first revocation of a key, and returns no id for a missing key", () => {
  const db = database();
  db.exec(insertKey(key));
  expect(db.prepare(revokeKey("01", 7)).all()).toEqual([{ id: "01" }]);
  expect(db.prepare(revokeKey("01", 8)).all()).toEqual([{ id: "01" }]);
  expect(db.prepare(listKeys(null)).get()).toMatchObject({ revoked_at: 7 });
  expect(db.prepare(revokeKey("' OR 1=1--", 8)).all()).toEqual([]);
});

it("sets the limits of a tenant, and resets limits to the deployment's defaults", () => {
  const db = database();
  db.exec(setLimits("acme", { turns: 3, usdPerDay: 2.5, storedBytes: 7 }));
  db.exec(setLimits("acme", { turns: null, usdPerDay: 0, storedBytes: null }));
  expect(db.prepare("SELECT * FROM tenants").all()).toEqual([
    { id: "acme", concurrent_turns: null, usd_per_day: 0, stored_bytes: null },
  ]);
});
