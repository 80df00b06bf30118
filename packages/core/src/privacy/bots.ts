/** Step 3: detects bots by known user agents, by the organisation's own patterns and, where configured, by a missing user agent. */
import type { DataLayerConfig } from '../config/resources.ts';
import { ownText } from '../context/objects.ts';
import { parseUserAgent } from '../context/user-agent.ts';
import type { CanonicalEvent } from '../event/canonical.ts';
import { compilePattern, MAX_PATTERN_LENGTH, type Pattern } from '../filter/pattern.ts';
import type { Decision, DropReason } from '../outcome/outcome.ts';
import type { ConfigFault } from '../vendor/compiled.ts';

export interface CompiledBots {
  action: 'flag' | 'drop' | 'allow';
  block_empty_user_agent: boolean;
  patterns: readonly Pattern[];
}
/** Patterns see at most this many characters of a user agent. */
const MAX_USER_AGENT = 1_024;
const CHANGED = ['context.bot'];
/** Shared by nearly all events: decisions are never written to. */
const HUMAN: Decision = { step: 'bots', result: 'human', changed: CHANGED };

/** A pattern that does not compile is left out and reported. */
export function compileBots(config: DataLayerConfig['bot_filtering'], faults: ConfigFault[]): CompiledBots {
  const patterns: Pattern[] = [];
  for (const [index, pattern] of config.custom_patterns.entries()) {
    const field = `bot_filtering.custom_patterns[${index}]`;
    if (typeof pattern !== 'string' || pattern === '' || pattern.length > MAX_PATTERN_LENGTH) {
      faults.push({ field, message: `must be a regular expression of 1 to ${MAX_PATTERN_LENGTH} characters` });
      continue;
    }
    const compiled = compilePattern(pattern, { any_case: true });
    if (compiled.ok) patterns.push(compiled.regexp);
    else faults.push({ field, message: compiled.message });
  }
  return { action: config.action, block_empty_user_agent: config.block_empty_user_agent, patterns };
}

/** A missing user agent counts only for browsers: server calls and webhooks have none of their own. */
export function applyBots(
  event: CanonicalEvent,
  source: 'browser' | 'server' | 'webhook',
  bots: CompiledBots,
  decisions: Decision[],
): DropReason | undefined {
  if (bots.action === 'allow') return undefined;
  const userAgent = ownText(event.context, 'user_agent')?.trim();
  const reason = botReason(userAgent, source, bots);
  if (reason === undefined) {
    if (userAgent === undefined) return undefined;
    event.context.bot = { is_bot: false };
    decisions.push(HUMAN);
    return undefined;
  }
  event.context.bot = { is_bot: true, reason };
  if (bots.action === 'drop') {
    decisions.push({ step: 'bots', result: 'dropped', detail: reason });
    return 'bot';
  }
  decisions.push({ step: 'bots', result: 'flagged', changed: CHANGED, detail: reason });
  return undefined;
}

function botReason(userAgent: string | undefined, source: string, bots: CompiledBots): string | undefined {
  if (userAgent === undefined || userAgent === '')
    return bots.block_empty_user_agent && source === 'browser' ? 'empty_user_agent' : undefined;
  if (parseUserAgent(userAgent).is_bot) return 'known_bot';
  if (bots.patterns.length > 0) {
    const text = userAgent.length > MAX_USER_AGENT ? userAgent.slice(0, MAX_USER_AGENT) : userAgent;
    for (const pattern of bots.patterns) if (pattern.test(text)) return 'custom_pattern';
  }
  return undefined;
}
