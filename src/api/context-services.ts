import type { ContextReader } from "../contexts/context-reader";
import type { ContextStore } from "../contexts/uploads";

/** What routes and the cron need of contexts. */
export type ContextServices = { store: ContextStore; reader: ContextReader };
