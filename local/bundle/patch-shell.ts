import { writeMeteredShell } from "./shell/write";

/**
 * Writes the shell that `[alias]` in wrangler.toml uses in place of just-bash's. Wrangler runs this
 * file before it bundles (`[build]` in wrangler.toml).
 */
writeMeteredShell();
