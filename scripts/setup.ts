import { ensureSetup } from "./local-setup";

/** `npm run setup`: everything a fresh clone needs. Doing it again changes nothing, and says so. Whatever runs it has checked Node. */
let said = 0;
const say = (line: string) => {
  said += 1;
  console.log(line);
};

try {
  await ensureSetup(say);
  if (said === 0) say("Everything is set up already. Next: npm run demo, or npm start.");
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
