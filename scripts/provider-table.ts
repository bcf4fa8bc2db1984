import { readFile, writeFile } from "node:fs/promises";
import { withTables } from "./provider-tables/document";

/** `npm run providers:table`: makes the tables of docs/providers.md anew. Doing it again changes nothing. */
const DOCUMENT = "docs/providers.md";

const before = await readFile(DOCUMENT, "utf8");
const after = withTables(before);
if (after !== before) await writeFile(DOCUMENT, after);
console.log(after === before ? `${DOCUMENT} is up to date.` : `Wrote ${DOCUMENT}.`);
