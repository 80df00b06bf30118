/** Messages for chats and alerts: a few events, each as a template that a customer can edit. They name nobody. */
import type { JsonObject } from '@firsthand/core/json.ts';
import type { Variant } from '@firsthand/core/vendor/definition.ts';
import { event, type Rest, type Transform } from './mapping.ts';
import type { StandardEvent } from './standard-events.ts';

const AMOUNT = '{{#if properties.total}} over {{properties.total}} {{properties.currency}}{{/if}}';
const PLAN = '{{#if properties.plan}}: {{properties.plan}}{{/if}}';
const MESSAGES: Partial<Record<StandardEvent, string>> = {
  'Order Completed': `Order {{properties.order_id}}${AMOUNT} was placed.`,
  'Order Refunded': `Order {{properties.order_id}} was refunded${AMOUNT}.`,
  'Order Cancelled': `Order {{properties.order_id}}${AMOUNT} was cancelled.`,
  'Booking Completed': `Booking {{properties.booking_id}}${AMOUNT} was made.`,
  'Signed Up': 'Somebody signed up{{#if user_id}}: user {{user_id}}{{/if}}.',
  'Lead Generated': 'There is a new lead{{#if properties.form_name}} from {{properties.form_name}}{{/if}}.',
  'Demo Requested': 'Somebody asked for a demo{{#if user_id}}: user {{user_id}}{{/if}}.',
  'Trial Started': `A trial began${PLAN}.`,
  'Subscription Started': `A subscription began${PLAN}.`,
  'Subscription Cancelled': `A subscription was cancelled${PLAN}.`,
};

/** The message as one line of a mapping. */
export function template(text: string, target: string, transforms: Transform[] = [], rest: Rest = {}): JsonObject {
  return { template: text, target, ...(transforms.length > 0 ? { transforms } : {}), ...rest } as JsonObject;
}

/** One variant: `lines` writes the message into the vendor's payload; other events are dropped. */
export function messageVariants(lines: (text: string) => JsonObject[], global: JsonObject[] = []): Variant[] {
  const events = Object.entries(MESSAGES).map(([name, text]) => [name, event(undefined, lines(text))] as const);
  return [
    {
      key: 'default',
      name: 'Default',
      description: 'A message for orders, bookings, sign-ups, leads, trials and subscriptions. Edit the texts, or add events.',
      default_config: {
        version: 2,
        global: { mappings: global },
        events: Object.fromEntries(events),
        defaults: { action: 'drop' },
      },
    },
  ];
}
