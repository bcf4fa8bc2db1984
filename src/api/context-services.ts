import type { ContextBlobs } from "../../r2-layout/contexts";
import type { PruneIndex } from "../uploads/context-index";
import type { ContextReader } from "../uploads/context-reader";
import type { UploadRoom } from "../uploads/upload-room";
import type { ContextStore } from "../uploads/uploads";

/** What routes and the cron need of contexts. */
export type ContextServices = {
  store: ContextStore;
  reader: ContextReader;
  /** For what is being taken in. One for all requests of an isolate. */
  room: UploadRoom;
  prune: { index: PruneIndex; files: ContextBlobs };
};
