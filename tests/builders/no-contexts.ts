import type { ContextBlobs } from "../../r2-layout/contexts";
import type { ContextServices } from "../../src/api/services";
import type { ContextPins } from "../../src/uploads/context-index";
import { ExpectedBlobs } from "../../src/uploads/expected-blobs";
import { MemoryBudget } from "../../src/uploads/memory-budget";

const refuse = () => Promise.reject(new Error("nothing may be stored"));

const files: ContextBlobs = {
  putBlob: refuse,
  blobs: refuse,
  blob: refuse,
  blobStream: refuse,
  putManifest: refuse,
  manifest: refuse,
  putPiece: refuse,
  piece: refuse,
  erasePieces: refuse,
  eraseAllBut: refuse,
  eraseContents: refuse,
  putPack: refuse,
  packIndexes: refuse,
  pack: refuse,
  putPlaces: refuse,
  places: refuse,
  erase: refuse,
};

/**
 * The context services of a service without contexts. Every attempt to store something is an error.
 */
export const noContexts: ContextServices & { pins: ContextPins } = {
  prune: {
    index: {
      retire: refuse,
      retired: async () => [],
      history: async () => [],
      leaveRest: refuse,
      putOff: refuse,
      forget: refuse,
    },
    files,
  },
  memory: new MemoryBudget(),
  reader: { uploaded: async () => new Set(), open: async () => null },
  pins: { take: async () => new Map(), copy: refuse, releaseStart: refuse, release: refuse },
  store: {
    records: { read: async () => null, replace: refuse, entriesOf: async () => new Map() },
    index: {
      begin: refuse,
      charge: refuse,
      full: async () => null,
      commit: refuse,
      isOpen: async () => false,
      newest: async () => null,
      newestOf: async () => [],
      version: async () => null,
      page: async () => [],
      abandon: refuse,
      markErasing: async () => [],
      unfinished: async () => [],
      forget: refuse,
    },
    files,
    newId: () => "01kb0000000000000000000000",
    expected: new ExpectedBlobs(),
    spare: async () => null,
  },
};
