/** Compiles a vendor definition and a revision's config, once per snapshot, into the functions the deliver role calls per event. */

import type { CanonicalEvent } from '../event/canonical.ts';
import { eventKey } from '../event/canonical.ts';
import { compileCondition } from '../filter/condition.ts';
import { patternBudgetInSteps, withPatternBudget } from '../filter/pattern.ts';
import { isObject, type JsonObject } from '../json.ts';
import { MAPPING_KEYS } from '../mapping/mapping.ts';
import { hasPlaceholder, leftPlaceholders, missingParameter } from '../mapping/parameters/placeholder.ts';
import { finish, type Steps } from '../steps.ts';
import { endQuota, MAX_REQUESTS, PAYLOAD_TOO_LARGE, quotaInSteps, REQUESTS_TOO_LARGE, startQuota, startStepQuota } from '../value-size.ts';
import { type CompiledPoll, compilePoll } from './async-result.ts';
import type { KeyOperations } from './auth.ts';
import { readAuthored } from './authored.ts';
import { type CompiledChain, compileChain, firstRequest } from './chain.ts';
import type { BuildContext, Built, ClientCertificate, CompiledVendor, CompileResult, ConfigFault, VendorItem } from './compiled.ts';
import type { RequestDefinition, VendorDefinition } from './definition.ts';
import { withEventTable } from './event-table.ts';
import { readFields } from './fields.ts';
import { compilePayload, type Made, type MakePayload } from './payload.ts';
import { type CompiledRequest, compileRequest, type RequestOptions } from './request.ts';
import { scrubber, secretValues } from './secrets.ts';
import { fieldsOf, readSettings } from './settings.ts';
import { bodyTemplate } from './template-body.ts';
import { compileTransport, recordsAsRequest, type TransportItems } from './transport.ts';
import { redirectTo, type UrlRules } from './url-rules.ts';
import { certificateWarnings, versionWarnings } from './versions.ts';

export interface CompileOptions extends UrlRules {
  /** Needed for configs with compression. The host provides it, because this package has no Node. */
  gzip?: (data: Uint8Array) => Uint8Array;
  /** Needed for auth kinds with a private key. */
  keys?: KeyOperations;
  /** Secrets beside those of the config, masked in reasons: the pipeline's secret parameters. */
  secrets?: readonly string[];
  /** For folder names of file targets. */
  pipeline_id?: string;
}

/** Pipeline parameters in the config must already be substituted. */
export function compileVendor(definition: VendorDefinition, config: JsonObject, options: CompileOptions): CompileResult {
  return finish(compileVendorInSteps(definition, config, options));
}
/** The same, divided. */
export function compileVendorInSteps(definition: VendorDefinition, config: JsonObject, options: CompileOptions): Steps<CompileResult> {
  return analyse(definition, config, options, false);
}

/** A config may have thousands of faults, and each is looked up among as many names. */
const FAULTS_PER_STEP = 50;

interface ConfigFaults {
  missing: ConfigFault[];
  invalid: ConfigFault[];
}
/** The same checks at save time, when `{{pipeline_param.KEY}}` may represent any value. */
export function validateConfig(definition: VendorDefinition, config: JsonObject, options: CompileOptions): ConfigFaults {
  return finish(validateConfigInSteps(definition, config, options));
}
export function* validateConfigInSteps(definition: VendorDefinition, config: JsonObject, options: CompileOptions): Steps<ConfigFaults> {
  const result = yield* analyse(definition, config, options, true);
  return result.ok ? { missing: [], invalid: [] } : { missing: result.missing, invalid: result.invalid };
}

function* analyse(definition: VendorDefinition, config: JsonObject, options: CompileOptions, saving: boolean): Steps<CompileResult> {
  if (!isObject(config)) return { ok: false, missing: [], invalid: [{ field: '', message: 'must be an object' }] };
  const fields = fieldsOf(definition);
  const { values, given, missing, invalid } = readFields(fields, config, { ...options, placeholders: saving });
  invalid.push(...unknownKeys(definition, config, new Set(fields.map(({ key }) => key))));
  const parameters = { ...freeParameters(definition, config), ...values };

  const found = requestsOf(definition, config, values);
  // An authored request has its own URL, so the field of that name is not missing.
  if (definition.authored_requests) missing.splice(0, missing.length, ...missing.filter(({ field }) => field !== 'url'));
  missing.push(...found.missing);

  const settings = readSettings(definition, { values, given }, [
    ...found.requests.map(({ definition: { batch } }) => batch),
    definition.transport?.batch,
  ]);
  const template = bodyTemplate(definition, values, saving);
  const certificates: ClientCertificate[] = [];
  const shared: Omit<RequestOptions, 'where' | 'url_at' | 'index'> = {
    ...options,
    parameters,
    redirect: redirectTo(values.endpoint),
    scrub: scrubber([...secretValues(definition, config), ...(options.secrets ?? [])]),
    batching: settings.batch !== null,
    certificates,
    ...(template.render ? { render: template.render } : {}),
  };
  const faults: ConfigFault[] = [...found.invalid, ...template.faults];
  // Requests are built from fields. If a field is missing or wrong, their faults would only repeat it.
  const ready = missing.length === 0 && invalid.length === 0 && faults.length === 0;
  const requests = ready
    ? found.requests.map(({ definition: request, where, url_at }, index) =>
        compileRequest(request, { ...shared, where, url_at, index }, faults),
      )
    : [];
  const polls = ready
    ? found.requests.map(({ definition: request, where, url_at }, index) =>
        compilePoll(request, { ...shared, where, url_at, index }, faults),
      )
    : [];
  const chain = ready && definition.chain ? compileChain(definition.chain, shared, faults) : undefined;
  const transport =
    ready && definition.transport ? compileTransport(definition.transport, parameters, faults, options.pipeline_id) : undefined;
  if (ready) faults.push(...gzipFaults(found, parameters, options, saving));
  yield;
  const payload = yield* compilePayload(definition, withEventTable(definition, config, values), parameters, faults);
  yield;
  const left = leftPlaceholders(config);
  for (const [i, fault] of faults.entries()) {
    if (i % FAULTS_PER_STEP === FAULTS_PER_STEP - 1) yield;
    if (!(saving && left.length > 0 && restsOnPlaceholder(config, fault.field))) invalid.push(fault);
  }
  if (missing.length > 0 || invalid.length > 0) return { ok: false, missing, invalid };

  const warnings = left.map(missingParameter);
  if (mapsNothing(definition, config)) warnings.push(MAPS_NOTHING);
  return {
    ok: true,
    vendor: assemble(
      definition,
      settings,
      { requests, polls, chain, transport, certificates, scrub: shared.scrub },
      payload,
      parameters,
      warnings,
    ),
  };
}

const MAPS_NOTHING =
  'No event is mapped, so every event is dropped: install the vendor from the catalog to start with its mappings, or add events or defaults.';
/** Valid but useless: probably a mistake. */
function mapsNothing(definition: VendorDefinition, { version, events, defaults }: JsonObject): boolean {
  if (definition.default_action !== 'drop' || version === 1) return false;
  const action = isObject(defaults) ? defaults.action : undefined;
  return (!isObject(events) || Object.keys(events).length === 0) && (action ?? 'drop') === 'drop';
}

function assemble(
  definition: VendorDefinition,
  settings: ReturnType<typeof readSettings>,
  { requests, polls, chain, transport, certificates, scrub }: Ways,
  payload: MakePayload,
  parameters: Record<string, unknown>,
  warnings: string[],
): CompiledVendor {
  const all = definition.send === 'all';
  const indexOf = (items: VendorItem[]) => Number.parseInt((items[0] as VendorItem).lane, 10);
  const requestOf = (items: VendorItem[]) => requests[indexOf(items)] as CompiledRequest;
  const tokens = requests.some(({ auth }) => auth.token);
  const [only] = requests;
  const asStored = transport ? transport.verbatim : requests.length === 1 ? only?.verbatim : undefined;
  const verbatim = payload.passes_all ? asStored : undefined;
  const fitting = (payload: unknown, event: CanonicalEvent): CompiledRequest[] => {
    const root = { key: eventKey(event), event, payload, parameters };
    if (all) return requests.filter((request) => request.fits(root));
    const first = requests.find((request) => request.fits(root));
    return first ? [first] : [];
  };
  const encode = (made: Made, event: CanonicalEvent, context: BuildContext, oneStep: boolean): Built => {
    if (made.kind !== 'payload') return made;
    if (oneStep) startStepQuota(context.bytes ?? 0);
    else startQuota(context.bytes ?? 0, MAX_REQUESTS);
    const one = chain?.items(made.payload, event) ?? transport?.items(made.payload, event, context.received_at ?? context.now);
    if (one) return one.ok ? { kind: 'items', items: one.items } : { kind: 'failed', reason: one.reason };
    const items: VendorItem[] = [];
    for (const request of fitting(made.payload, event)) {
      const own = request.items(made.payload, event);
      if (!own.ok) return { kind: 'failed', reason: own.reason };
      items.push(...own.items);
    }
    return built(items);
  };
  return {
    scrub,
    ...settings,
    ...(tokens ? { token: (items: VendorItem[]) => requestOf(items).auth.token } : {}),
    ...(polls.some(Boolean) ? { poll: (items: VendorItem[]) => polls[indexOf(items)] } : {}),
    ...(chain ? { chain } : {}),
    ...(transport ? { transport: transport.transport } : {}),
    warnings,
    expiryWarnings: (now) => [
      ...(definition.api_version ? versionWarnings(definition.api_version, parameters, now) : []),
      ...certificateWarnings(certificates, now),
    ],
    verbatim,
    // All regular expressions of a mapping, and of the rules for answers, share a budget: no config can block the event loop.
    build: (event, context) => withPatternBudget(() => endingQuota(() => encode(payload.make(event, context), event, context, false))),
    buildAtOnce(event, context) {
      const done = withPatternBudget(() => endingQuota(() => encode(payload.makeAtOnce(event, context), event, context, true)));
      return isTooLarge(done) ? undefined : done;
    },
    *buildInSteps(event, context) {
      const made = yield* patternBudgetInSteps(payload.makeInSteps(event, context));
      yield;
      if (made.kind !== 'payload' || chain || transport)
        return withPatternBudget(() => endingQuota(() => encode(made, event, context, false)));
      const { payload: mapped } = made;
      const chosen = withPatternBudget(() => fitting(mapped, event));
      return yield* quotaInSteps(context.bytes ?? 0, MAX_REQUESTS, itemsInSteps(chosen, mapped, event));
    },
    request(items, context) {
      const shown = chain ? firstRequest(chain, items, context) : transport ? recordsAsRequest(transport.transport, items) : undefined;
      return shown ?? requestOf(items).request(items, context);
    },
    read: (reply, items, context) => withPatternBudget(() => requestOf(items).read(reply, items, context)),
  };
}

function* itemsInSteps(requests: readonly CompiledRequest[], payload: unknown, event: CanonicalEvent): Steps<Built> {
  const items: VendorItem[] = [];
  for (const request of requests) {
    const own = yield* request.itemsInSteps(payload, event);
    if (!own.ok) return { kind: 'failed', reason: own.reason };
    items.push(...own.items);
  }
  return built(items);
}
function built(items: VendorItem[]): Built {
  return items.length === 0 ? { kind: 'dropped', reason: 'mapping_filter' } : { kind: 'items', items };
}

function isTooLarge(made: Built): boolean {
  return made.kind === 'failed' && (made.reason === PAYLOAD_TOO_LARGE || made.reason === REQUESTS_TOO_LARGE);
}

function endingQuota<T>(work: () => T): T {
  try {
    return work();
  } finally {
    endQuota();
  }
}

/** How items are sent: as requests, or by one of the alternatives to requests. */
interface Ways {
  scrub: CompiledVendor['scrub'];
  requests: CompiledRequest[];
  /** By request. */
  polls: (CompiledPoll | undefined)[];
  chain: CompiledChain | undefined;
  transport: TransportItems | undefined;
  certificates: ClientCertificate[];
}

type Found = {
  requests: { definition: RequestDefinition; where: string; url_at: string }[];
  missing: ConfigFault[];
  invalid: ConfigFault[];
};

function requestsOf(definition: VendorDefinition, config: JsonObject, values: Record<string, unknown>): Found {
  if (definition.authored_requests) return readAuthored(config, values);
  return {
    requests: definition.requests.map((request, index) => ({
      definition: request,
      where: `requests[${index}]`,
      url_at: `requests[${index}].url`,
    })),
    missing: [],
    invalid: [],
  };
}

/** A mistyped field must not pass silently. */
function unknownKeys(definition: VendorDefinition, config: JsonObject, fields: ReadonlySet<string>): ConfigFault[] {
  const known = new Set<string>([...MAPPING_KEYS, 'parameters', ...(definition.authored_requests ? ['request', 'requests'] : [])]);
  const faults = Object.keys(config)
    .filter((key) => !fields.has(key) && !known.has(key))
    .map((key) => ({ field: key, message: 'is unknown' }));
  const { parameters } = config;
  if (parameters === undefined) return faults;
  if (!isObject(parameters)) return [...faults, { field: 'parameters', message: 'must be an object' }];
  if (definition.authored_requests) return faults;
  const strange = Object.keys(parameters).filter((key) => !fields.has(key));
  return [...faults, ...strange.map((key) => ({ field: `parameters.${key}`, message: 'is unknown' }))];
}

/** Authors of custom requests choose the names of their parameters. */
function freeParameters(definition: VendorDefinition, config: JsonObject): Record<string, unknown> {
  return definition.authored_requests && isObject(config.parameters) ? config.parameters : {};
}

/** A compressed request compiles only if the host provides gzip. Requests whose condition excludes them do not count. */
function gzipFaults({ requests }: Found, parameters: Record<string, unknown>, options: CompileOptions, saving: boolean): ConfigFault[] {
  if (options.gzip || saving) return [];
  const asked = requests.some(({ definition: { compression, when } }) => {
    const condition = when === undefined ? undefined : compileCondition(when, '');
    return compression === 'gzip' && (!condition?.ok || condition.test({ parameters }));
  });
  return asked ? [{ field: 'compression', message: 'gzip is not available here' }] : [];
}

/** Whether the value at a fault's path contains a placeholder: its final value is not known yet. */
function restsOnPlaceholder(value: unknown, field: string): boolean {
  if (hasPlaceholder(value)) return true;
  if (typeof value !== 'object' || value === null || field === '') return false;
  const below = (key: string, length: number) => {
    const rest = field.slice(length);
    if (rest !== '' && rest[0] !== '.' && rest[0] !== '[') return false;
    return restsOnPlaceholder((value as Record<string, unknown>)[key], rest[0] === '.' ? rest.slice(1) : rest);
  };
  if (Array.isArray(value)) {
    const [index, position] = /^\[(\d+)\]/.exec(field) ?? [];
    return index !== undefined && position !== undefined && below(position, index.length);
  }
  // Keys may contain dots ("events.v1.0 Order"), so every key that starts the rest of the path is tried.
  return Object.keys(value).some((key) => field.startsWith(key) && below(key, key.length));
}
