/** Paths of the service's routes. Without schemas, so that a client can use them without a schema library. */

export const RUNS_PATH = "/api/runs";
export const SESSIONS_PATH = "/api/sessions";
export const CONFIGS_PATH = "/api/configs";
export const EVALS_PATH = "/api/evals";
export const CONTEXTS_PATH = "/api/contexts";

export const sessionPath = (sessionId: string): string =>
  `${SESSIONS_PATH}/${encodeURIComponent(sessionId)}`;
export const cancelPath = (sessionId: string): string => `${sessionPath(sessionId)}/cancel`;
/** The next turn of a session is started here. */
export const turnsPath = (sessionId: string): string => `${sessionPath(sessionId)}/turns`;
const turnPath = (sessionId: string, turn: number): string => `${turnsPath(sessionId)}/${turn}`;
export const eventsPath = (sessionId: string, turn: number): string =>
  `${turnPath(sessionId, turn)}/events`;
/** What a turn changed in contexts. */
export const turnChangesPath = (sessionId: string, turn: number): string =>
  `${turnPath(sessionId, turn)}/changes`;
/** The new contents of a file of a turn's change set. */
export const turnChangeBlobPath = (sessionId: string, turn: number, hash: string): string =>
  `${turnChangesPath(sessionId, turn)}/blobs/${hash}`;

/** Where the files of one answer are listed. */
export const answerFilesPath = (at: {
  sessionId: string;
  turn: number;
  label: string;
  attempt: number;
}): string =>
  `${turnPath(at.sessionId, at.turn)}/answers/${encodeURIComponent(at.label)}/files?attempt=${at.attempt}`;

/** Links in the answer to a started turn. */
export const runLinks = (
  sessionId: string,
  turn: number,
): { session: string; turn: string; events: string; cancel: string } => ({
  session: sessionPath(sessionId),
  turn: turnPath(sessionId, turn),
  events: eventsPath(sessionId, turn),
  cancel: cancelPath(sessionId),
});

export const configPath = (name: string): string => `${CONFIGS_PATH}/${encodeURIComponent(name)}`;

export const evalRunsPath = (suite: string): string =>
  `${EVALS_PATH}/${encodeURIComponent(suite)}/runs`;
export const evalRunPath = (suite: string, run: string): string =>
  `${evalRunsPath(suite)}/${encodeURIComponent(run)}`;

export const contextPath = (name: string): string => `${CONTEXTS_PATH}/${encodeURIComponent(name)}`;
export const contextArchivePath = (name: string): string => `${contextPath(name)}/archive.zip`;
export const contextBlobsPath = (name: string): string => `${contextPath(name)}/blobs`;
export const contextFilePath = (name: string, path: string): string =>
  `${contextPath(name)}/files/${path.split("/").map(encodeURIComponent).join("/")}`;
