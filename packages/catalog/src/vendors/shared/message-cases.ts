/** One case per message of `messages.ts`: the text that a reader sees. */
import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import type { ExpectedRequest, VendorCase } from './cases.ts';
import { track } from './sample-events.ts';

const TEXTS: readonly (readonly [event: CanonicalEvent, text: string])[] = [
  [track('Order Refunded', { order_id: 'o-1', total: 10, currency: 'EUR' }), 'Order o-1 was refunded over 10 EUR.'],
  [track('Order Cancelled', { order_id: 'o-1' }), 'Order o-1 was cancelled.'],
  [track('Booking Completed', { booking_id: 'b-1', total: 90, currency: 'EUR' }), 'Booking b-1 over 90 EUR was made.'],
  [track('Signed Up'), 'Somebody signed up: user user-1.'],
  [track('Lead Generated', { form_name: 'Contact' }), 'There is a new lead from Contact.'],
  [track('Demo Requested'), 'Somebody asked for a demo: user user-1.'],
  [track('Trial Started', { plan: 'pro' }), 'A trial began: pro.'],
  [track('Subscription Started', { plan: 'pro' }), 'A subscription began: pro.'],
  [track('Subscription Cancelled', { plan: 'pro' }), 'A subscription was cancelled: pro.'],
];

export function messageCases(says: (text: string, event: CanonicalEvent) => ExpectedRequest[]): VendorCase[] {
  return TEXTS.map(([event, text]) => ({ name: `message: ${event.event}`, event, requests: says(text, event) }));
}
