import { ALL_PARAMS } from "../providers/format-params";
import { BACKEND_KEYS } from "./backend-keys";
import {
  AGENT_KEYS,
  COORDINATION_KEYS,
  type KeyRules,
  ORCHESTRATOR_KEYS,
  PERSONA_KEYS,
  TIMEOUT_KEYS,
  TOP_KEYS,
  UI_KEYS,
} from "./known-keys";

/** Where each key belongs, for whoever wrote it elsewhere; of two places the first is the likelier. */
const PLACES: readonly (readonly [place: string, KeyRules])[] = [
  ["into `orchestrator`", ORCHESTRATOR_KEYS],
  ["into `orchestrator.coordination`", COORDINATION_KEYS],
  ["into `timeout_settings`", TIMEOUT_KEYS],
  [
    "into an agent's `backend`",
    { ...BACKEND_KEYS, served: [...BACKEND_KEYS.served, ...ALL_PARAMS] },
  ],
  ["into an entry of `agents`", AGENT_KEYS],
  ["into `ui`", UI_KEYS],
  ["to the top level", TOP_KEYS],
];
const SECTIONS: readonly KeyRules[] = [
  BACKEND_KEYS,
  PERSONA_KEYS,
  ...PLACES.map(([, rules]) => rules),
];

/** The place, as the end of "it belongs …", of a key that a section does not know; null if no other section knows it either. */
export function placeOfKey(key: string, section: KeyRules): string | null {
  if (!SECTIONS.includes(section)) return null;
  const served = PLACES.find(([, rules]) => rules.served.includes(key));
  const known =
    served ??
    PLACES.find(([, { later, byValue = [] }]) =>
      [...Object.values(later), byValue].flat().includes(key),
    );
  return known?.[0] ?? null;
}
