import { readFile, writeFile } from "node:fs/promises";
import { runPlain } from "../local/command-line";
import { withTables } from "./provider-tables/document";

const DOCUMENT = "docs/providers.md";
const USAGE = `npm run providers:table

Makes the tables of ${DOCUMENT} anew. Doing it again changes nothing.`;

await runPlain(USAGE, async () => {
  const before = await readFile(DOCUMENT, "utf8");
  const after = withTables(before);
  if (after !== before) await writeFile(DOCUMENT, after);
  console.log(after === before ? `${DOCUMENT} is up to date.` : `Wrote ${DOCUMENT}.`);
  return 0;
});
