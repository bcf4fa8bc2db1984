/** Rules and behaviours that a run may have. Each run draws a subset. */
export const HABITS = [
  ...[
    "cancel",
    "personas",
    "restarts",
    "tight_budget",
    "tiny_windows",
    "short_deadline",
    "defer_voting",
    "novelty",
  ],
  ...[
    "mistakes",
    "silent_agents",
    "stubborn",
    "few_answers",
    "few_injections",
    "skip",
    "second_turn",
    "unwatched",
    "background",
  ],
  ...[
    "toolish",
    "endless_tools",
    "prolific",
    "strict_judges",
    "long_trouble",
    "late_trouble",
    "tools",
  ],
] as const;
/** Additional habits, which only a small share of the runs has. */
const RARE_HABITS = [
  ...(["long_results", "served", "rated", "hosted", "projects"] as const),
  ...(["branches", "teams", "queue", "summaries"] as const),
] as const;
export const ALL_HABITS = [...HABITS, ...RARE_HABITS] as const;
export type Habit = (typeof ALL_HABITS)[number];
