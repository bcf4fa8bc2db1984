import { readFile, writeFile } from "node:fs/promises";
import { teamSchema } from "../src/config/json-schema";
import { runPlain } from "../local/command-line";

const FILE = "configs/team.schema.json";
const USAGE = `npm run config:schema

Makes the JSON Schema of a team config anew, ${FILE}. Doing it again changes nothing.`;

await runPlain(USAGE, async () => {
  const before = await readFile(FILE, "utf8").catch(() => "");
  const after = `${JSON.stringify(teamSchema(), null, 2)}\n`;
  if (after !== before) await writeFile(FILE, after);
  console.log(after === before ? `${FILE} is up to date.` : `Wrote ${FILE}.`);
  return 0;
});
