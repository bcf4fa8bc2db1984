import { sessionPath } from "../../../src/protocol/api";
import { ServiceClient } from "../../../tests/process/support/service-client";
import { judge } from "../../../tests/process/support/verdict";
import { Watcher } from "../../../tests/process/support/watcher";
import type { RecordedRequest } from "../../simulated-providers/ledger";
import { letGo, overlapping } from "../runs/judge";

/**
 * What is wrong with a session of one turn that is to have completed, in sentences: its whole log is read again and checked, beside
 * what the service says of it and what reached its providers.
 */
export async function verdictOf(url: string, session: string, requests: () => readonly RecordedRequest[]): Promise<string[]> {
  const log = new Watcher(`${url}${sessionPath(session)}/events`);
  await log.ended;
  await letGo({ requests });
  const status = await new ServiceClient(url).status(session);
  return [...judge({ frames: log.frames, status, requests: requests() }), ...overlapping(requests())];
}
