/**
 * Paths of the service's routes. This file imports no schemas, so that clients can use it without a
 * schema library.
 */

export const RUNS_PATH = "/api/runs";
export const SESSIONS_PATH = "/api/sessions";
export const CONFIGS_PATH = "/api/configs";
export const EVALS_PATH = "/api/evals";
export const CONTEXTS_PATH = "/api/contexts";

export const sessionPath = (sessionId: string): string =>
  `${SESSIONS_PATH}/${encodeURIComponent(sessionId)}`;
export const cancelPath = (sessionId: string): string => `${sessionPath(sessionId)}/cancel`;
/** Path of the differences between two points of a session. */
export const diffPath = (
  sessionId: string,
  points: { from?: string | undefined; to?: string | undefined } = {},
): string => {
  const named = Object.entries(points).flatMap(([name, reference]) =>
    reference === undefined ? [] : [[name, reference]],
  );
  const query = new URLSearchParams(named).toString();
  return `${sessionPath(sessionId)}/diff${query === "" ? "" : `?${query}`}`;
};
/** Route that starts the next turn of a session. */
export const turnsPath = (sessionId: string): string => `${sessionPath(sessionId)}/turns`;
/** Route that summarises the conversation of a session. */
export const compactPath = (sessionId: string): string => `${sessionPath(sessionId)}/compact`;
/** Path of the session's head: the turn that the next turn continues. */
export const headPath = (sessionId: string): string => `${sessionPath(sessionId)}/head`;
/** Path of the session's queue: the requests that wait for the running turn. */
export const queuePath = (sessionId: string): string => `${sessionPath(sessionId)}/queue`;
/** Path that resumes a held queue. */
export const resumeQueuePath = (sessionId: string): string => `${queuePath(sessionId)}/resume`;
/** Path of a request in the queue. */
export const queuedPath = (sessionId: string, queueId: string): string =>
  `${queuePath(sessionId)}/${encodeURIComponent(queueId)}`;
/** Links in the response to a request that was queued. */
export const queuedLinks = (
  sessionId: string,
  queueId: string,
): { session: string; queue: string; queued: string } => ({
  session: sessionPath(sessionId),
  queue: queuePath(sessionId),
  queued: queuedPath(sessionId, queueId),
});
const turnPath = (sessionId: string, turn: number): string => `${turnsPath(sessionId)}/${turn}`;
export const eventsPath = (sessionId: string, turn: number): string =>
  `${turnPath(sessionId, turn)}/events`;
/** Path of the changes that a turn made to its contexts. */
export const turnChangesPath = (sessionId: string, turn: number): string =>
  `${turnPath(sessionId, turn)}/changes`;
/** Path of the new contents of a file that a turn changed. `hash`: SHA-256 of the contents. */
export const turnChangeBlobPath = (sessionId: string, turn: number, hash: string): string =>
  `${turnChangesPath(sessionId, turn)}/blobs/${hash}`;

/** A turn's result; with `label`, one answer of the turn, and the attempt that it belongs to. */
export type FilesOf = {
  sessionId: string;
  turn: number;
  label?: string | undefined;
  attempt?: number | undefined;
};

/** Path of one file of a turn's result or of an answer. `inline`: for display in a browser. */
export const filePath = (
  { sessionId, turn, label, attempt }: FilesOf,
  path: string,
  { inline = false }: { inline?: boolean } = {},
): string => {
  const query = new URLSearchParams({
    ...(label === undefined || attempt === undefined ? {} : { attempt: String(attempt) }),
    ...(inline ? { inline: "1" } : {}),
  }).toString();
  const answerPath = label === undefined ? "" : `/answers/${encodeURIComponent(label)}`;
  const encodedPath = path.split("/").map(encodeURIComponent).join("/");
  const file = `${turnPath(sessionId, turn)}${answerPath}/files/${encodedPath}`;
  return query === "" ? file : `${file}?${query}`;
};

/** Path of the list of an answer's files. */
export const answerFilesPath = (answer: {
  sessionId: string;
  turn: number;
  label: string;
  attempt: number;
}): string => {
  const { sessionId, turn, label, attempt } = answer;
  const answerPath = `${turnPath(sessionId, turn)}/answers/${encodeURIComponent(label)}`;
  return `${answerPath}/files?attempt=${attempt}`;
};

/** Links in the response to a request that starts a turn. */
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
