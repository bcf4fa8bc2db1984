import { ulid } from "ulid";
import { ContextFiles } from "../r2-layout/contexts";
import { createContextReader } from "../src/contexts/context-reader";
import { createContextIndex } from "./context-index";
import { createContextPins } from "./context-pins";
import { createPruneIndex } from "./context-pruning";
import type { Env } from "./env";

/** Contexts as the Worker and the sessions' objects reach them. */
export function contextServices(env: Pick<Env, "DB" | "BUCKET">) {
  const index = createContextIndex(env.DB);
  const files = new ContextFiles(env.BUCKET);
  const newId = (now: number) => ulid(now).toLowerCase();
  return {
    store: { index, files, newId },
    reader: createContextReader({ index, files }),
    pins: createContextPins(env.DB),
    prune: { index: createPruneIndex(env.DB), files },
  };
}
