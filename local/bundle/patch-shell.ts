import { writeMeteredShell } from "./shell/write";

/** What wrangler runs before it bundles (`[build]` in wrangler.toml): the shell that `[alias]` puts in place of just-bash's. */
writeMeteredShell();
