import { runPlain } from "../local/command-line";
import { ensureSetup } from "../local/local-setup";

/** Whatever runs it has checked Node. */
const USAGE = `npm run setup

Everything a fresh clone needs. Doing it again changes nothing, and says so.`;

let said = 0;
const say = (line: string) => {
  said += 1;
  console.log(line);
};

await runPlain(USAGE, async () => {
  try {
    await ensureSetup(say);
    if (said === 0) say("Everything is set up already. Next: npm run demo, or npm start.");
    return 0;
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return 1;
  }
});
