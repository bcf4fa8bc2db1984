import { bundleOf } from "../local/bundle/worker-bundle";

/** Bundles the service once before the tests. Otherwise each test file would bundle it. */
export async function setup(): Promise<void> {
  await bundleOf();
}
