import { randomBytes } from "node:crypto";
import { isLocalService } from "../../../src/config/operator-settings";
import type { Backend, Team, TeamAgent } from "../../../src/config/team";
import type { CallFailure } from "../../../src/coordination";
import { mayReceiveKey, OPERATOR_VARIABLES } from "../../../src/providers/registry";
import {
  NONCE_BYTES,
  type OpenedSecret,
  open,
  parseSealingKeys,
  seal,
  type SealingKeys,
  versionOf,
} from "../../../src/tenancy/sealing";
import { type Env, readSecret, readVariables } from "../../../src/env";

/** The key for a call, or why there is none. `key` is empty if the endpoint needs no key. */
export type FoundKey = { ok: true; key: string } | { ok: false; failure: CallFailure };

type KeyEnv = Pick<Env, "SEALING_KEYS" | "SERVICE_ORIGINS" | "OPEN_ACCESS">;

/**
 * The keys of a team's agents, for the object that stores the team: a session or an evaluation run.
 * Callers' keys are sealed in storage and in memory; a key is opened only for one call. Of the
 * operator's keys, only the names are stored.
 */
export class TeamKeys {
  readonly #env: KeyEnv;
  readonly #holder: { tenant: string; session: string };
  readonly #sealing: SealingKeys | null;

  constructor(env: KeyEnv, holder: { tenant: string; session: string }) {
    this.#env = env;
    this.#holder = holder;
    const parsed = parseSealingKeys(readSecret(env, "SEALING_KEYS"));
    this.#sealing = parsed.ok ? parsed.keys : null;
  }

  /** The team with sealed keys. Throws if it has a caller's key and no sealing key is set. */
  seal(team: Team): Team {
    const sealing = this.#sealing;
    if (!sealing && team.agents.some(({ backend }) => backend.key.from === "literal")) {
      throw new Error("A caller's key cannot be stored: SEALING_KEYS is missing or malformed.");
    }
    return sealing ? withKeys(team, (agent) => this.#sealed(sealing, agent)) : team;
  }

  /**
   * The stored team with every key sealed by the first version of the sealing keys. This includes
   * keys that older versions of the service stored unsealed. `null` if no key changes. Keys that
   * cannot be opened or sealed are not changed.
   */
  renew(team: Team): Team | null {
    const sealing = this.#sealing;
    if (!sealing) return null;
    const renewed = withKeys(team, (agent) => this.#renewed(sealing, agent));
    return renewed.agents.some(({ backend }, nth) => backend.key !== team.agents[nth]?.backend.key)
      ? renewed
      : null;
  }

  /**
   * The stored team with opened keys, which the caller must pass on at once; or why a key cannot be
   * opened.
   */
  open(team: Team): { ok: true; team: Team } | { ok: false; failure: CallFailure } {
    const openedKeys = new Map<TeamAgent, Key>();
    for (const agent of team.agents.filter(({ backend }) => backend.key.from === "sealed")) {
      const found = this.keyOf(agent);
      if (!found.ok) return found;
      openedKeys.set(agent, { from: "literal", value: found.key });
    }
    return {
      ok: true,
      team: withKeys(team, (agent) => openedKeys.get(agent) ?? agent.backend.key),
    };
  }

  /**
   * The key for a call. A key of the operator is sent only to the origin that it is bound to, also
   * if the config names another address.
   */
  keyOf(agent: TeamAgent): FoundKey {
    const { key, baseUrl } = agent.backend;
    switch (key.from) {
      case "literal":
        return { ok: true, key: key.value };
      case "sealed": {
        const opened = this.#opened(key.value, agent);
        return opened.ok
          ? { ok: true, key: opened.secret }
          : { ok: false, failure: keyUnreadable(agent.id, opened) };
      }
      case "none":
        return { ok: true, key: "" };
      case "stored": {
        const isBound = mayReceiveKey(
          key.name,
          baseUrl,
          readVariables(this.#env, OPERATOR_VARIABLES),
        );
        const stored = isBound ? readSecret(this.#env, key.name) : undefined;
        return stored === undefined
          ? { ok: false, failure: keyMissing(agent.backend, isLocalService(this.#env)) }
          : { ok: true, key: stored };
      }
    }
  }

  #renewed(sealing: SealingKeys, agent: TeamAgent): Key {
    const { key } = agent.backend;
    if (key.from !== "sealed" || versionOf(key.value) === sealing.first.version)
      return this.#sealed(sealing, agent);
    const opened = this.#opened(key.value, agent);
    return opened.ok ? this.#sealedText(sealing, opened.secret, agent) : key;
  }

  #sealed(sealing: SealingKeys, agent: TeamAgent): Key {
    const { key } = agent.backend;
    return key.from === "literal" ? this.#sealedText(sealing, key.value, agent) : key;
  }

  #sealedText(sealing: SealingKeys, secret: string, agent: TeamAgent): Key {
    return {
      from: "sealed",
      value: seal(sealing, secret, this.#binding(agent), randomBytes(NONCE_BYTES)),
    };
  }

  #opened(sealed: string, agent: TeamAgent): OpenedSecret {
    if (!this.#sealing) return { ok: false, why: "unknown_version", version: versionOf(sealed) };
    return open(this.#sealing, sealed, this.#binding(agent));
  }

  #binding({ id, backend }: TeamAgent) {
    return { ...this.#holder, agent: id, origin: new URL(backend.baseUrl).origin };
  }
}

type Key = TeamAgent["backend"]["key"];

const withKeys = (team: Team, keyOf: (agent: TeamAgent) => Key): Team => ({
  ...team,
  agents: team.agents.map((agent) => ({
    ...agent,
    backend: { ...agent.backend, key: keyOf(agent) },
  })),
});

/**
 * The failure of a call whose key is missing: since the config was checked, the operator removed
 * the key or changed its endpoint.
 */
export function keyMissing(
  { key, baseUrl }: Pick<Backend, "key" | "baseUrl">,
  isLocal: boolean,
): CallFailure {
  const { host } = new URL(baseUrl);
  const name = key.from === "stored" ? key.name : "api_key";
  const deployed = `\`npx wrangler secret put ${name}\``;
  const how = isLocal
    ? `add it to .dev.vars, which \`npm run setup\` creates, and restart the service (deployed: ${deployed})`
    : `set it with ${deployed} (locally in .dev.vars)`;
  return notSent("key_missing", `${name} for ${host} is no longer set: ${how}.`);
}

/** The failure of a call whose caller's key cannot be opened. */
function keyUnreadable(
  agent: string,
  { why, version }: Extract<OpenedSecret, { ok: false }>,
): CallFailure {
  const otherwise = "or start a new session with its key";
  const messages = {
    unknown_version: `The key of ${agent} was sealed with version ${version} of SEALING_KEYS, which is no longer set: add that version again after the first, ${otherwise}.`,
    not_opened: `The key of ${agent} cannot be opened: version ${version} of SEALING_KEYS is not the key it was sealed with, or the stored key was changed. Set the right one again, ${otherwise}.`,
  };
  return notSent("key_unreadable", messages[why]);
}

const notSent = (code: string, message: string): CallFailure => ({
  class: "bad_credentials",
  code,
  message,
  retryAfterMs: null,
  usage: null,
  reached: false,
});
