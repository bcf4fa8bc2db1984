import { bundleSize, checkedSize } from "./bundle-size";
import { wrangler } from "./wrangler";

/** `npm run deploy [-- --dry-run]`: bundles, measures, and unless told otherwise uploads. The dry run needs no network. */
const args = process.argv.slice(2);
try {
  console.log(checkedSize(await bundleSize()));
  if (!args.includes("--dry-run")) process.exitCode = await wrangler(["deploy", ...args]);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
