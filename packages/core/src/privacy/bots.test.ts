import { describe, expect, test } from 'vitest';
import type { DataLayerConfig } from '../config/resources.ts';
import type { CanonicalEvent } from '../event/canonical.ts';
import type { Decision } from '../outcome/outcome.ts';
import type { ConfigFault } from '../vendor/compiled.ts';
import { applyBots, compileBots } from './bots.ts';

const CHROME = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36';
const GOOGLE = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';
type Config = Partial<DataLayerConfig['bot_filtering']>;
type Source = 'browser' | 'server' | 'webhook';

const cases: [name: string, userAgent: unknown, config: Config, bot: unknown, dropped?: 'bot' | undefined, source?: Source][] = [
  ['a browser', CHROME, {}, { is_bot: false }],
  ['a known bot is flagged', GOOGLE, {}, { is_bot: true, reason: 'known_bot' }],
  ['a known bot is dropped', GOOGLE, { action: 'drop' }, { is_bot: true, reason: 'known_bot' }, 'bot'],
  ['a known bot is let through', GOOGLE, { action: 'allow' }, undefined],
  [
    'a pattern of one’s own, in any case',
    `${CHROME} OurProbe/3`,
    { custom_patterns: ['ourprobe/\\d+'] },
    { is_bot: true, reason: 'custom_pattern' },
  ],
  ['a pattern that does not match', CHROME, { custom_patterns: ['ourprobe'] }, { is_bot: false }],
  ['no user agent', undefined, {}, undefined],
  ['no user agent, where that is a bot', undefined, { block_empty_user_agent: true }, { is_bot: true, reason: 'empty_user_agent' }],
  ['an empty one', '  ', { block_empty_user_agent: true, action: 'drop' }, { is_bot: true, reason: 'empty_user_agent' }, 'bot'],
  ['servers owe none', undefined, { block_empty_user_agent: true, action: 'drop' }, undefined, undefined, 'server'],
  ['webhooks owe none', undefined, { block_empty_user_agent: true, action: 'drop' }, undefined, undefined, 'webhook'],
  ['a server passes a bot’s on', GOOGLE, { action: 'drop' }, { is_bot: true, reason: 'known_bot' }, 'bot', 'server'],
];

describe('bots', () => {
  test.each(cases)('%s', (_name, userAgent, config, bot, dropped, source = 'browser') => {
    const context = (userAgent === undefined ? {} : { user_agent: userAgent }) as CanonicalEvent['context'];
    const event: CanonicalEvent = { event_id: 'e', type: 'track', event: 'T', timestamp: '', context };
    const decisions: Decision[] = [];
    const compiled = compileBots({ action: 'flag', block_empty_user_agent: false, custom_patterns: [], ...config }, []);
    expect(applyBots(event, source, compiled, decisions)).toBe(dropped);
    expect(event.context.bot).toEqual(bot);
    expect(decisions.length).toBe(bot === undefined ? 0 : 1);
  });

  test('a pattern that is no expression is left out and named', () => {
    const faults: ConfigFault[] = [];
    const compiled = compileBots({ action: 'flag', block_empty_user_agent: false, custom_patterns: ['(', 'ok', '(?=x)'] }, faults);
    expect(compiled.patterns).toHaveLength(1);
    expect(faults.map(({ field }) => field)).toEqual(['bot_filtering.custom_patterns[0]', 'bot_filtering.custom_patterns[2]']);
  });

  test('a hostile pattern costs linear time: with any other this would not end', () => {
    const compiled = compileBots({ action: 'flag', block_empty_user_agent: false, custom_patterns: ['(a+)+$'] }, []);
    const event: CanonicalEvent = { event_id: 'e', type: 'track', timestamp: '', context: { user_agent: `${'a'.repeat(1_000)}!` } };
    expect(applyBots(event, 'browser', compiled, [])).toBeUndefined();
  });
});
