import { NOTHING, words } from "./refusals";

/**
 * Hosts that share a wire format but accept other fields or paths, by their ids in the service's
 * table of hosts. Each is called below `/as/<its id>`. Others behave like the format's maker.
 */
type Host = {
  /** Additional accepted fields: only those that sample configs set, so that others are noticed. */
  takes?: ReadonlySet<string>;
  /** Prefix of the format's path. */
  root?: string;
};

const HOSTS: Readonly<Record<string, Host>> = {
  vllm: { takes: words("chat_template_kwargs top_k") },
  sglang: { takes: words("chat_template_kwargs") },
  xai: { takes: words("max_turns") },
  azure_openai: { root: "/openai" },
};

/** Prefix of the paths of a host's APIs. */
export function rootOf(host: string): string {
  const facts = HOSTS[host];
  return facts ? `/as/${host}${facts.root ?? ""}` : "";
}

/**
 * The path of a request without its host's prefix, and the fields that the host additionally
 * accepts.
 */
export function parseHostPath(path: string): { path: string; takes: ReadonlySet<string> } {
  const host = Object.keys(HOSTS).find((id) => path.startsWith(`${rootOf(id)}/`));
  return host === undefined
    ? { path, takes: NOTHING }
    : { path: path.slice(rootOf(host).length), takes: HOSTS[host]?.takes ?? NOTHING };
}
