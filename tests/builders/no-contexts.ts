import type { ContextServices } from "../../src/api/context-services";

const refuse = () => Promise.reject(new Error("nothing may be stored"));

/** Contexts of a service that has none. */
export const noContexts: ContextServices = {
  reader: { newest: async () => new Map(), open: async () => null },
  store: {
    index: {
      begin: refuse,
      commit: refuse,
      isOpen: async () => false,
      newest: async () => null,
      newestOf: async () => [],
      version: async () => null,
      page: async () => [],
      giveUp: refuse,
      markErasing: async () => [],
      unfinished: async () => [],
      forget: refuse,
    },
    files: {
      putBlob: refuse,
      blobs: refuse,
      blob: refuse,
      blobStream: refuse,
      putManifest: refuse,
      manifest: refuse,
      putPiece: refuse,
      piece: refuse,
      erasePieces: refuse,
      erase: refuse,
    },
    newId: () => "01kb0000000000000000000000",
  },
};
