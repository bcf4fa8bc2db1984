import { NOTHING, words } from "./refusals";

/**
 * Hosts that share a wire format but accept other fields or paths, by their ids in the service's
 * table of hosts. Requests to a host begin with the path `/as/<host id>`. A host that is not listed
 * here behaves like the provider that defines the format.
 */
type Host = {
  /**
   * Fields accepted in addition to the format. Only fields that sample configs set are listed, so
   * that a request with any other field fails.
   */
  acceptedFields?: ReadonlySet<string>;
  /** Path between the host's id and the format's path. */
  root?: string;
};

const HOSTS: Readonly<Record<string, Host>> = {
  vllm: { acceptedFields: words("chat_template_kwargs top_k") },
  sglang: { acceptedFields: words("chat_template_kwargs") },
  xai: { acceptedFields: words("max_turns") },
  azure_openai: { root: "/openai" },
};

/** The part of a path before the format's own path. Empty for a host that is not listed. */
export function hostPrefixOf(host: string): string {
  const facts = HOSTS[host];
  return facts ? `/as/${host}${facts.root ?? ""}` : "";
}

/** Splits off the host's prefix. Returns the format's path and the host's additional fields. */
export function parseHostPath(path: string): { path: string; acceptedFields: ReadonlySet<string> } {
  const host = Object.keys(HOSTS).find((id) => path.startsWith(`${hostPrefixOf(id)}/`));
  return host === undefined
    ? { path, acceptedFields: NOTHING }
    : {
        path: path.slice(hostPrefixOf(host).length),
        acceptedFields: HOSTS[host]?.acceptedFields ?? NOTHING,
      };
}
