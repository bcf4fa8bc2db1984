import { runPlain } from "../local/command-line";
import { ensureSetup } from "../local/local-setup";

/** `run.mjs`, which starts this script, has checked the version of Node. */
const USAGE = `npm run setup

Prepares a new clone for development. A second run changes nothing.`;

let printedLines = 0;
const print = (line: string) => {
  printedLines += 1;
  console.log(line);
};

await runPlain(USAGE, async () => {
  try {
    await ensureSetup(print);
    if (printedLines === 0)
      print("Everything is set up already. Next: npm run demo, or npm start.");
    return 0;
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return 1;
  }
});
