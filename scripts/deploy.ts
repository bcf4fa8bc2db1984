import { bundleSize, checkedSize } from "../local/bundle/bundle-size";
import { wrangler } from "../local/bundle/wrangler";
import { runCommand } from "../local/command-line";
import { deployPlan } from "./deploy-plan";
import { FIRST_DEPLOY_USAGE, firstDeployArguments, isFirstDeploy } from "./first-deploy/arguments";

/**
 * `npm run deploy [-- --dry-run]`: bundles the Worker, measures the bundle, uploads it, and
 * migrates the deployed database. The dry run only bundles and measures, without network. With
 * `--first`, the command also creates the database, bucket, secrets and key that a new deployment
 * needs.
 */
async function deploy(args: readonly string[]): Promise<number> {
  const plan = deployPlan(args);
  console.log(checkedSize(await bundleSize()));
  for (const command of plan) {
    const code = await wrangler(command);
    if (code === 0) continue;
    console.error(
      `\`npx wrangler ${command.join(" ")}\` failed. Fix the problem, then run \`npm run deploy\` again.`,
    );
    return code;
  }
  return 0;
}

async function deployFirst(args: readonly string[]): Promise<number> {
  const options = firstDeployArguments(args);
  if (options.help) {
    console.log(FIRST_DEPLOY_USAGE);
    return 0;
  }
  const { firstDeployCommand } = await import("./first-deploy/command");
  return firstDeployCommand(options);
}

const args = process.argv.slice(2);
try {
  await runCommand(() => (isFirstDeploy(args) ? deployFirst(args) : deploy(args)));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
