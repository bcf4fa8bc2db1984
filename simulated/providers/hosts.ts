import { NOTHING, words } from "./refusals";

/**
 * Hosts that serve one of the formats and differ in what they take, or where, by the ids of the service's own table of hosts: each is
 * asked below `/as/<its id>`. Any other is asked as the format's maker is.
 */
type Host = {
  /** Fields that it takes besides those of the format's maker: no more than sample configs set, so that any other is noticed. */
  takes?: ReadonlySet<string>;
  /** What stands before the format's own path. */
  root?: string;
};

const HOSTS: Readonly<Record<string, Host>> = {
  vllm: { takes: words("chat_template_kwargs top_k") },
  sglang: { takes: words("chat_template_kwargs") },
  xai: { takes: words("max_turns") },
  azure_openai: { root: "/openai" },
};

/** What stands before the paths of a host's APIs. */
export function rootOf(host: string): string {
  const facts = HOSTS[host];
  return facts ? `/as/${host}${facts.root ?? ""}` : "";
}

/** The path of a request without that of the host it was sent to, and which fields that host takes besides. */
export function askedOf(path: string): { path: string; takes: ReadonlySet<string> } {
  const host = Object.keys(HOSTS).find((id) => path.startsWith(`${rootOf(id)}/`));
  return host === undefined
    ? { path, takes: NOTHING }
    : { path: path.slice(rootOf(host).length), takes: HOSTS[host]?.takes ?? NOTHING };
}
