import { readFile, writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { runCommand } from "../local/command-line";
import {
  type Ceilings,
  type Count,
  countLine,
  dictionCounts,
  dictionProblems,
  type Document,
  isAtFloor,
  loweredCeilings,
} from "./checks/diction-report";
import { isSettings } from "./checks/diction-settings";
import { report } from "./checks/report";
import { listFiles, readSources } from "./checks/source";

const USAGE = `npm run check:diction [-- --all | --places FOLDER | --shrink]

Counts words to avoid and long sentences, by folder and by long document. See
scripts/checks/diction.ts.

  --all             also print the folders that pass
  --places FOLDER   print every place found in this folder
  --shrink          lower the ceilings to the present counts`;

/** The file with the allowed counts of folders that are above the floor. */
const CEILINGS_FILE = "scripts/checks/diction-ceilings.json";

const REMEDY = `Plain technical English: name the actor first, use an active verb and the term of the field,
at most 25 words a sentence. Name types by nouns. Break lines of comments at 100 columns.`;

const readAll = (paths: readonly string[]): Promise<Document[]> =>
  Promise.all(paths.map(async (path) => ({ path, text: await readFile(path, "utf8") })));

type Options = {
  all?: boolean | undefined;
  places?: string | undefined;
  shrink?: boolean | undefined;
};

function printCounts(counts: readonly Count[], { all = false, places }: Options): void {
  const findings = counts.filter(({ folder }) => folder === places).flatMap(({ found }) => found);
  for (const { path, line, message } of findings) console.log(`${path}:${line} ${message}`);
  for (const count of counts) if (all || !isAtFloor(count)) console.log(countLine(count));
}

async function check(options: Options): Promise<void> {
  const files = await listFiles(".");
  const [sources, documents, settings] = await Promise.all([
    readSources("."),
    readAll(files.filter((path) => path.endsWith(".md"))),
    readAll(files.filter(isSettings)),
  ]);
  const counts = dictionCounts({ sources, documents, settings });
  let ceilings: Ceilings = JSON.parse(await readFile(CEILINGS_FILE, "utf8"));
  if (options.shrink) {
    ceilings = loweredCeilings(ceilings, counts);
    await writeFile(CEILINGS_FILE, `${JSON.stringify(ceilings, null, 2)}\n`);
  }
  printCounts(counts, options);
  const problems = dictionProblems(counts, ceilings);
  if (problems.length > 0) console.error(REMEDY);
  report("diction", sources.length + documents.length + settings.length, problems);
}

await runCommand(async () => {
  const { values } = parseArgs({
    options: {
      all: { type: "boolean" },
      places: { type: "string" },
      shrink: { type: "boolean" },
      help: { type: "boolean" },
    },
  });
  if (values.help) console.log(USAGE);
  else await check(values);
  return process.exitCode === 1 ? 1 : 0;
});
