import type { StoredSessions } from "../../src/api/services";

const refuse = () => Promise.reject(new Error("nothing may be stored"));

/** The session index and stores of a service without sessions. */
export const noSessions: StoredSessions = {
  index: {
    add: refuse,
    confirm: refuse,
    has: async () => false,
    page: async () => [],
    drop: refuse,
    markErasing: refuse,
    remove: refuse,
  },
  claims: { find: async () => null, claim: refuse, withdraw: refuse },
  eraseFiles: refuse,
};
