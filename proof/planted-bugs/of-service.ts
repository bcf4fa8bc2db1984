import type { PlantedBug } from "./bug";

/**
 * Bugs in the code around the rules: the session's Durable Object, the engine, and the code that
 * writes the texts for agents and calls the providers.
 */
export const BUGS_OF_SERVICE: readonly PlantedBug[] = [
  {
    name: "a resumed stream repeats its last event",
    file: "durable-objects/session/streams/event-streams.ts",
    find: "cursor: Math.max(request.after, (place?.firstSeq ?? 1) - 1),",
    replace: "cursor: Math.max(request.after - 1, (place?.firstSeq ?? 1) - 1),",
    invariant: "I1",
  },
  {
    name: "readers receive events that are not on disk yet",
    file: "durable-objects/session/log/journal.ts",
    find: "await platform.storage.sync();",
    replace: "await Promise.resolve();",
    invariant: "I1",
  },
  {
    name: "sequence numbers of deltas are used again after a restart",
    file: "durable-objects/session/log/session-log.ts",
    find: "SELECT max((SELECT coalesce(max(seq), 0) FROM events), (SELECT coalesce(max(seq), 0) FROM deltas)) AS head",
    replace: "SELECT coalesce(max(seq), 0) AS head FROM events",
    invariant: "I2",
  },
  {
    name: "all files of a pack are read from its start",
    file: "durable-objects/session/files/file-jobs.ts",
    find: "blobs.noteStored(blob, { pack: name, at: offset });",
    replace: "blobs.noteStored(blob, { pack: name, at: 0 * offset });",
    invariant: "I10-stored",
  },
  {
    name: "a round starts with the files of the round before",
    file: "durable-objects/session/files/files-entry.ts",
    find: "round: filesRound(agentAt(turn.attempt, agent)),",
    replace: "round: Math.max(1, filesRound(agentAt(turn.attempt, agent)) - 1),",
    invariant: "I10-stored",
  },
  {
    name: "the presenter starts with the files of the turn's start",
    file: "durable-objects/session/files/workspace-trees.ts",
    find: "const isPresenter = settled?.winner === agent && settled.revision !== null;",
    replace: "const isPresenter = settled?.winner !== agent && settled?.winner === -1;",
    invariant: "I10-stored",
  },
  {
    name: "every request is sent twice",
    file: "src/providers/transport.ts",
    find: "return await guard(urlOf(input), signal, () => network(input, { ...init, signal }));",
    replace: `const send = () => guard(urlOf(input), signal, () => network(input, { ...init, signal }));
    await (await send()).text();
    return await send();`,
    invariant: "I11-ledger",
  },
  {
    name: "a call that was deferred for the budget is still sent",
    file: "durable-objects/session/calls/model-calls.ts",
    find: 'if (started?.type !== "call.started") return null;',
    replace: `if (started?.type !== "call.started") {
      const { signal } = new AbortController();
      const slot = { onHeaders: () => undefined, onBuilt: async () => undefined, yieldSignal: signal, relay: 0 };
      const { takenIds, ...prepared } = this.#requests.resumed(turn, effect);
      if (facts.length > 0) void this.#send(effect, { ...prepared, slot, signal }, takenIds);
      return null;
    }`,
    invariant: "I11-ledger",
  },
  {
    name: "a settlement whose response was lost is not retried",
    file: "durable-objects/session/log/outbox-worker.ts",
    find: "outbox.failed(item, now());\n        logError(",
    replace: "outbox.done(item.id);\n        logError(",
    invariant: "I12",
  },
  {
    name: "no alarm survives the process",
    file: "src/engine/alarm-scheduler.ts",
    find: "this.#setTimer(delay);\n    await this.#setAlarm(WATCHDOG_MS);",
    replace: "this.#setTimer(delay);",
    invariant: "I13",
  },
  {
    name: "the first-byte timeout of models is an hour",
    file: "src/providers/call-limits.ts",
    find: "firstByteMs: 120_000",
    replace: "firstByteMs: 3_600_000",
    invariant: "I13",
  },
  {
    name: "a restart ignores the first effect in progress",
    file: "src/engine/engine.ts",
    find: "for (const effect of interrupted.filter((id) => !this.#tryToResume(id))) {",
    replace: "for (const effect of interrupted.slice(1).filter((id) => !this.#tryToResume(id))) {",
    invariant: "I13",
  },
  {
    name: "a call releases its slot before the headers arrive",
    file: "src/providers/transport.ts",
    find: "return await guard(urlOf(input), signal, () => network(input, { ...init, signal }));",
    replace: `onHeaders();
    return await guard(urlOf(input), signal, () => network(input, { ...init, signal }));`,
    invariant: "I14",
  },
  {
    name: "all calls use the first relay",
    file: "durable-objects/session/calls/relay-slots.ts",
    find: "const relay = this.#used.findIndex((used) => used < this.#slotsPerRelay);",
    replace: "const relay = 0;",
    invariant: "I14",
  },
  {
    name: "the loss of a relay counts as a failure of the provider",
    file: "durable-objects/session/calls/reply-streams.ts",
    find: "if (await relay.wasLost()) return interrupted(performed);",
    replace: "",
    invariant: "relays",
  },
  {
    name: "cancelled requests continue",
    file: "src/engine/effect-runner.ts",
    find: "if (!neededIds.has(id)) abort.abort(NO_LONGER_NEEDED);",
    replace: "if (!neededIds.has(id) && neededIds.size > 0) abort.abort(new Error(id));",
    invariant: "I15",
  },
  {
    name: "newer answers are sent by name, without their text",
    file: "src/prompts/newer-answers.ts",
    find: 'answersBlock(nonce, "NEW ANSWERS", answers),',
    replace:
      'answersBlock(nonce, "NEW ANSWERS", answers.map((answer) => ({ ...answer, content: "" }))),',
    invariant: "I5-shown",
  },
  {
    name: "a reply that a provider cut is read as complete",
    file: "src/agents/reply.ts",
    find: "stopReason: reply.stopReason,",
    replace: 'stopReason: reply.stopReason === "length" ? "stop" : reply.stopReason,',
    invariant: "said",
  },
  {
    name: "agents see each other's ids instead of aliases",
    file: "src/agents/round-start.ts",
    find: "const alias = aliasOf(turn, agent);",
    replace: "const alias = turn.rules.agents[agent]?.id ?? aliasOf(turn, agent);",
    invariant: "I21",
  },
  {
    name: "an internal error ends turns and is not reported",
    file: "durable-objects/session/files/decided-files.ts",
    find: "if (!hasFiles) return { changed, results, frozen: [], finalText: null, presented: null, ended };",
    replace: `if (!hasFiles) return { changed, results, frozen: [], finalText: null, presented: null, ended };
    if (ended !== null && steps.length > 2) throw new Error("planted");`,
    invariant: "unhandled",
  },
  {
    name: "an internal error aborts a transaction once",
    file: "durable-objects/session/log/journal.ts",
    find: "entry.writeFiles?.();",
    replace: 'entry.writeFiles?.();\n      if (at % 97 === 0) throw new TypeError("planted");',
    invariant: "unhandled",
  },
  {
    name: "an internal error ends the handler of an alarm, which fires again",
    file: "src/engine/engine.ts",
    find: "await this.#alarm.onAlarm(runningTurn(this.#coordinator.state) !== null);",
    replace:
      'await this.#alarm.onAlarm(runningTurn(this.#coordinator.state) !== null);\n    if (this.#host.now() % 97 === 0) throw new TypeError("planted");',
    invariant: "unhandled",
  },
  {
    name: "a ratio of tokens to bytes is used as an upper bound",
    file: "src/agents/input-bound.ts",
    find: "return Math.min(whole, prefix.tokens + TOOL_CHOICE_TOKENS + messagesBound(request.messages.slice(prefix.messages)));",
    replace: "return Math.ceil(whole / 8);",
    invariant: "I11",
  },
];
