/** What each provider sends, shortened to what its mapping reads: where trying a payload begins. */
import type { WebhookProvider } from '@firsthand/core/config/resources.ts';

export interface SamplePayload {
  body: unknown;
  /** The header that names the type, for providers that put it there. */
  type_header?: string;
}

export const SAMPLE_PAYLOADS: Record<WebhookProvider, SamplePayload> = {
  stripe: {
    body: {
      id: 'evt_1',
      type: 'payment_intent.succeeded',
      created: 1_714_564_800,
      data: { object: { id: 'pi_1', object: 'payment_intent', customer: 'cus_1', amount: 12_990, currency: 'eur', status: 'succeeded' } },
    },
  },
  shopify: {
    type_header: 'orders/create',
    body: {
      id: 1009,
      name: '#1009',
      created_at: '2024-05-01T12:00:00Z',
      total_price: '129.90',
      currency: 'EUR',
      customer: { id: 4711, email: 'visitor@example.com' },
      line_items: [{ product_id: 42, title: 'Trail shoe', quantity: 1, price: '79.90' }],
    },
  },
  hubspot: {
    body: [
      {
        eventId: 1,
        subscriptionType: 'contact.propertyChange',
        occurredAt: 1_714_564_800_000,
        objectId: 4711,
        propertyName: 'lifecyclestage',
        propertyValue: 'customer',
      },
    ],
  },
  typeform: {
    body: {
      event_id: 'evt_1',
      event_type: 'form_response',
      form_response: {
        form_id: 'contact',
        token: 'tok_1',
        submitted_at: '2024-05-01T12:00:00Z',
        hidden: { user_id: 'u_4711', email: 'visitor@example.com' },
        answers: [{ type: 'text', text: 'Trail shoes' }],
      },
    },
  },
  intercom: {
    body: {
      id: 'notif_1',
      topic: 'contact.user.created',
      created_at: 1_714_564_800,
      data: { item: { id: 'contact_1', type: 'contact', external_id: 'u_4711', email: 'visitor@example.com', name: 'Mia Berg' } },
    },
  },
  github: {
    type_header: 'push',
    body: {
      ref: 'refs/heads/main',
      after: '6dcb09b5b57875f334f61aebed695e2e4193db5e',
      repository: { full_name: 'shop/website' },
      sender: { login: 'mia', id: 4711 },
      commits: [{ id: '6dcb09b5b57875f334f61aebed695e2e4193db5e' }],
    },
  },
  svix: { body: { type: 'Order Completed', timestamp: '2024-05-01T12:00:00Z', data: { order_id: 'A-1009', total: 129.9 } } },
  custom: { body: { type: 'Order Completed', order_id: 'A-1009', total: 129.9, customer: 'u_4711' } },
};
