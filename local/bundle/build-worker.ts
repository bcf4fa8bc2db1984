import { buildWorker, WORKER_FOLDER } from "./worker-build";

/**
 * Builds the Worker that wrangler deploys. Wrangler runs this file (`[build]` in wrangler.toml).
 */
await buildWorker({ entry: "src/worker.ts", folder: WORKER_FOLDER, sourceMaps: true });
