import { bundleSize, checkedSize } from "../local/bundle/bundle-size";
import { deployPlan } from "./deploy-plan";
import { wrangler } from "../local/bundle/wrangler";

/**
 * `npm run deploy [-- --dry-run]`: bundles, measures, uploads and migrates the deployed database.
 * The dry run only bundles and measures, without network.
 */
try {
  const plan = deployPlan(process.argv.slice(2));
  console.log(checkedSize(await bundleSize()));
  for (const args of plan) {
    process.exitCode = await wrangler(args);
    if (process.exitCode === 0) continue;
    console.error(
      `\`npx wrangler ${args.join(" ")}\` failed. Fix the problem, then run \`npm run deploy\` again.`,
    );
    break;
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
