/**
 * Limits on the cost of one configuration document and of all documents of an organisation: what it takes to validate, store, load
 * and compile them. The walk is linear and stops at the first limit that is exceeded, so that a hostile document costs no more than a
 * good one.
 */
import { MAX_PATTERN_LENGTH } from '../filter/pattern.ts';
import { estimatePatternSteps } from '../filter/pattern-size.ts';
import { isObject } from '../json.ts';
import { MAX_PATH_SEGMENTS } from '../path/segments.ts';
import { finish, type Steps } from '../steps.ts';

export const CONFIGURATION_BUDGET = {
  /** Fields and list items, at any depth. */
  values: 20_000,
  /** Steps of all regular expressions together; a usual one has 10 to 50. */
  pattern_steps: 20_000,
  /** `{{…}}` of all templates together. */
  template_tags: 5_000,
  /** Parts of the targets of all mappings (`a.b` has two). Those of `global` count for each entry of `events`, which is compiled with them. */
  target_parts: 50_000,
  /** Characters of all texts and field names. More than one request body can have, because a resource can be written in several requests. */
  characters: 5_000_000,
} as const;
export type Cost = Record<keyof typeof CONFIGURATION_BUDGET, number>;

/**
 * For the configuration that is in use, which every process holds in memory: data layer, tracking plans, transformations, webhook sources
 * and assigned integrations. `organisation_characters` also counts pipelines and the event filters of integrations.
 */
export const ORGANISATION_BUDGET = {
  organisation_values: 1_000_000,
  organisation_pattern_steps: 250_000,
  organisation_template_tags: 250_000,
  organisation_target_parts: 2_500_000,
  organisation_characters: 50_000_000,
} as const;
/**
 * What a piece of configuration (a pipeline, an integration, a transformation …) takes in memory beside its texts, counted as characters.
 * Measured: 1 to 9 KB, and 43 KB for a source with a preset. A character of a mapping takes about 30 bytes once it is compiled.
 */
const PIECE_CHARACTERS = 1_000;
/** Limits on what is stored but not held in memory. */
export const COUNT_BUDGET = {
  /** As many as an organisation may have integrations. Deleted ones do not count. */
  organisation_templates: 50_000,
  template_revisions: 10_000,
} as const;
export type BudgetName = keyof typeof CONFIGURATION_BUDGET | keyof typeof ORGANISATION_BUDGET | keyof typeof COUNT_BUDGET;
export interface Excess<Name extends BudgetName = BudgetName> {
  budget: Name;
  message: string;
}
type OrganisationBudgetName = keyof typeof ORGANISATION_BUDGET;

export interface PatternSource {
  pattern: string;
  any_case: boolean;
}
/** A document that exceeds its budget is not compiled, so that only its characters cost anything. */
export type Measured = { cost: Cost } & ({ ok: true; patterns: PatternSource[] } | ({ ok: false } & Excess));

/** The patterns of a document, for compiling them one by one, or the budget that it exceeds. */
export function measureConfiguration(document: unknown): Measured {
  return finish(measureInSteps(document));
}
/** The same, divided: 6,000 properties or mappings take up to 20 ms in a process that never measured one. */
export function* measureInSteps(document: unknown): Steps<Measured> {
  const walk = new Walk();
  yield* walk.visitInSteps(document);
  const { exceeded } = walk;
  if (exceeded === undefined) return { ok: true, patterns: walk.patterns, cost: walk.cost };
  return {
    ok: false,
    cost: { ...NO_COST, characters: countCharacters(document) },
    budget: exceeded,
    message: `exceeds the budget ${exceeded}: a configuration may have at most ${CONFIGURATION_BUDGET[exceeded]} ${NOUNS[exceeded]}`,
  };
}

/** What a document costs its organisation. `beside`: what is held in memory with it, but not compiled. */
export function pieceCost(document: Readonly<Cost>, beside: unknown): Cost {
  return addCost(document, { ...NO_COST, characters: PIECE_CHARACTERS + countCharacters(beside) });
}
function countCharacters(value: unknown, depth = 0): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return 0;
  let count = 0;
  if (Array.isArray(value)) for (const item of value) count += countCharacters(item, depth + 1);
  else for (const key of Object.keys(value)) count += key.length + countCharacters((value as Record<string, unknown>)[key], depth + 1);
  return count;
}

export const NO_COST: Readonly<Cost> = { values: 0, pattern_steps: 0, template_tags: 0, target_parts: 0, characters: 0 };
export function addCost(a: Readonly<Cost>, b: Readonly<Cost>, times = 1): Cost {
  return {
    values: a.values + times * b.values,
    pattern_steps: a.pattern_steps + times * b.pattern_steps,
    template_tags: a.template_tags + times * b.template_tags,
    target_parts: a.target_parts + times * b.target_parts,
    characters: a.characters + times * b.characters,
  };
}

/** The budget that the organisation's whole configuration exceeds. Not one that it exceeded `before`, if it has become smaller. */
export function organisationExcess(total: Readonly<Cost>, before: Readonly<Cost> = NO_COST): Excess<OrganisationBudgetName> | undefined {
  for (const name of Object.keys(NOUNS) as (keyof Cost)[]) {
    const budget = `organisation_${name}` as const;
    const most = ORGANISATION_BUDGET[budget];
    if (total[name] > most && total[name] > before[name])
      return {
        budget,
        message: `exceeds the budget ${budget}: the configuration of an organisation may have at most ${most} ${NOUNS[name]}${name === 'characters' ? EACH_PIECE : ''}`,
      };
  }
  return undefined;
}

/** The budget that one more of them would exceed. */
export function countExcess(budget: keyof typeof COUNT_BUDGET, count: number): Excess<keyof typeof COUNT_BUDGET> | undefined {
  const most = COUNT_BUDGET[budget];
  if (count < most) return undefined;
  const [owner, counted] = COUNTED[budget];
  return { budget, message: `exceeds the budget ${budget}: ${owner} may have at most ${most} ${counted}` };
}
const COUNTED = {
  organisation_templates: ['an organisation', 'integration templates'],
  template_revisions: ['a template', 'revisions'],
} as const satisfies Record<keyof typeof COUNT_BUDGET, unknown>;

const NOUNS: Readonly<Record<keyof Cost, string>> = {
  values: 'fields and list items',
  pattern_steps: 'steps in its regular expressions',
  template_tags: 'template tags',
  target_parts: 'parts in the targets of its mappings, those of global counted for each entry of events',
  characters: 'characters in its texts and field names',
};
const EACH_PIECE = `, ${PIECE_CHARACTERS} more for each pipeline, integration, transformation, source, tracking plan and data layer`;
const MAX_DEPTH = 200;
const ENTRIES_PER_STEP = 1_000;
/** The lists of a config are not deeper: config.events.E.mappings. */
const DIVIDED_DEPTH = 6;
/** An object without one of them, as most of the thousands in a document, has no pattern and no entries with targets. */
const SPECIAL_KEYS: ReadonlySet<string> = new Set(['op', 'pattern', 'patternProperties', 'custom_patterns', 'name', 'events']);

class Walk {
  readonly patterns: PatternSource[] = [];
  exceeded: keyof Cost | undefined;
  readonly cost: Cost = { ...NO_COST };
  #entries = 0;

  visit(value: unknown, depth: number): void {
    for (const child of this.#enter(value, depth)) this.visit(child, depth + 1);
  }
  /** Yields between the many entries of a list or an object. */
  *visitInSteps(value: unknown, depth = 0): Steps<void> {
    for (const child of this.#enter(value, depth)) {
      if (++this.#entries % ENTRIES_PER_STEP === 0) yield;
      if (depth < DIVIDED_DEPTH) yield* this.visitInSteps(child, depth + 1);
      else this.visit(child, depth + 1);
    }
  }

  /** Counts the value by itself and returns what is in it. */
  #enter(value: unknown, depth: number): readonly unknown[] {
    if (this.exceeded !== undefined || depth > MAX_DEPTH) return [];
    if (typeof value === 'string') {
      this.#spend('characters', value.length);
      this.#template(value);
    } else if (Array.isArray(value)) {
      this.#spend('values', value.length);
      return value;
    } else if (typeof value === 'object' && value !== null) {
      this.#object(value as Record<string, unknown>);
      return Object.values(value);
    }
    return [];
  }

  #object(object: Record<string, unknown>): void {
    const keys = Object.keys(object);
    let characters = 0;
    let isSpecial = false;
    for (const key of keys) {
      characters += key.length;
      isSpecial ||= SPECIAL_KEYS.has(key);
    }
    this.#spend('values', keys.length);
    this.#spend('characters', characters);
    if (this.exceeded !== undefined || !isSpecial) return;
    this.#patternsOf(object);
    this.#targetsOf(object);
  }

  /** Every place of a configuration that holds a regular expression. */
  #patternsOf({ op, value, pattern, patternProperties, custom_patterns, name, args }: Record<string, unknown>): void {
    if (op === 'matches') this.#pattern(value, false);
    this.#pattern(pattern, false);
    if (typeof patternProperties === 'object' && patternProperties !== null)
      for (const key of Object.keys(patternProperties)) this.#pattern(key, false);
    if (Array.isArray(custom_patterns)) for (const one of custom_patterns) this.#pattern(one, true);
    if (name === 'replace' && Array.isArray(args)) this.#pattern(args[0], false);
  }

  /** A thousand global mappings and thousands of entries that are compiled with them would fill the memory. */
  #targetsOf({ global, events, defaults }: Record<string, unknown>): void {
    if (typeof events !== 'object' || events === null) return;
    const shared = targetParts(global);
    for (const entry of [defaults, ...Object.values(events).flat()]) this.#spend('target_parts', shared + targetParts(entry));
  }

  #pattern(pattern: unknown, any_case: boolean): void {
    if (typeof pattern !== 'string' || pattern.length > MAX_PATTERN_LENGTH || this.exceeded !== undefined) return;
    this.patterns.push({ pattern, any_case });
    this.#spend('pattern_steps', estimatePatternSteps(pattern, any_case));
  }

  #template(text: string): void {
    let tags = 0;
    for (let at = text.indexOf('{{'); at >= 0; at = text.indexOf('{{', at + 2)) tags += 1;
    if (tags > 0) this.#spend('template_tags', tags);
  }

  #spend(budget: keyof Cost, amount: number): void {
    this.cost[budget] += amount;
    if (this.cost[budget] > CONFIGURATION_BUDGET[budget]) this.exceeded ??= budget;
  }
}

/** Of the mappings of `global` or of an entry. */
function targetParts(entry: unknown): number {
  const mappings = isObject(entry) ? entry.mappings : undefined;
  if (!Array.isArray(mappings)) return 0;
  let parts = 0;
  for (const line of mappings)
    if (isObject(line) && typeof line.target === 'string') parts += line.target.split(/[.[]/, MAX_PATH_SEGMENTS).length;
  return parts;
}
