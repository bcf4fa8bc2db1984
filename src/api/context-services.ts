import type { ContextBlobs } from "../../r2-layout/contexts";
import type { PruneIndex } from "../contexts/context-index";
import type { ContextReader } from "../contexts/context-reader";
import type { ContextStore } from "../contexts/uploads";

/** What routes and the cron need of contexts. */
export type ContextServices = {
  store: ContextStore;
  reader: ContextReader;
  prune: { index: PruneIndex; files: ContextBlobs };
};
