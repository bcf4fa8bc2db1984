import { bundleOf } from "../local/bundle/worker-bundle";

/** Bundles the service once, before files that start it side by side would each do so. */
export async function setup(): Promise<void> {
  await bundleOf();
}
