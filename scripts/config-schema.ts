import { readFile, writeFile } from "node:fs/promises";
import { teamSchema } from "../src/config/json-schema";

/** `npm run config:schema`: makes the JSON Schema of a team config anew. Doing it again changes nothing. */
const FILE = "configs/team.schema.json";

const before = await readFile(FILE, "utf8").catch(() => "");
const after = `${JSON.stringify(teamSchema(), null, 2)}\n`;
if (after !== before) await writeFile(FILE, after);
console.log(after === before ? `${FILE} is up to date.` : `Wrote ${FILE}.`);
