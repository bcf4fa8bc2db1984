import { writeMeteredShell } from "./shell/write";

/**
 * Run by wrangler before bundling (`[build]` in wrangler.toml): writes the shell that `[alias]`
 * uses in place of just-bash's.
 */
writeMeteredShell();
