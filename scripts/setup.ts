import { runPlain } from "../local/command-line";
import { ensureSetup } from "../local/local-setup";

/** Node's version is checked by the caller (`run.mjs`). */
const USAGE = `npm run setup

Everything a fresh clone needs. Doing it again changes nothing, and says so.`;

let printed = 0;
const say = (line: string) => {
  printed += 1;
  console.log(line);
};

await runPlain(USAGE, async () => {
  try {
    await ensureSetup(say);
    if (printed === 0) say("Everything is set up already. Next: npm run demo, or npm start.");
    return 0;
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return 1;
  }
});
