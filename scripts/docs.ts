import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { runPlain } from "../local/command-line";

const USAGE = `npm run docs

Writes docs/reference/, the index of decisions, the picture of the demo,
configs/team.schema.json, and the measured figures in documents, from
docs/proof/data/. Running it again changes nothing.`;

await runPlain(USAGE, async () => {
  const { GENERATED } = await import("./reference/pages");
  for (const { file, make } of GENERATED) {
    const before = await readFile(file, "utf8").catch(() => null);
    const after = make();
    await mkdir(path.dirname(file), { recursive: true });
    if (after !== before) await writeFile(file, after);
    console.log(after === before ? `${file} is up to date.` : `Wrote ${file}.`);
  }
  return 0;
});
