import { ensureSetup } from "./local-setup";

/** `npm run setup`: everything a fresh clone needs. Doing it again changes nothing. Whatever runs it has checked Node. */
await ensureSetup((line) => console.log(line)).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
