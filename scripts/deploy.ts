import { bundleSize, checkedSize } from "../local/bundle/bundle-size";
import { deployPlan } from "./deploy-plan";
import { wrangler } from "../local/bundle/wrangler";

/**
 * `npm run deploy [-- --dry-run]`: bundles, measures, and unless told otherwise uploads and brings the deployed database up to date.
 * The dry run needs no network.
 */
try {
  const plan = deployPlan(process.argv.slice(2));
  console.log(checkedSize(await bundleSize()));
  for (const args of plan) {
    process.exitCode = await wrangler(args);
    if (process.exitCode === 0) continue;
    console.error(
      `\`npx wrangler ${args.join(" ")}\` did not succeed. Once that is mended, \`npm run deploy\` goes on.`,
    );
    break;
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
