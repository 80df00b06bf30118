import type { SourceDefinition, SourceValue } from '@firsthand/core/inbound/source-definition.ts';

const CURRENCY = '$.data.object.currency';
/** Stripe counts in the currency's smallest unit; `value` is in major units, as vendors expect it. */
const money = (path: string): SourceValue => ({ path, as: 'major_units', currency: CURRENCY });

/**
 * Lines of invoices, subscriptions and checkout sessions. Each has a `price` and, except in subscriptions, an `amount`. Lines of invoices have
 * `pricing` instead since 2025-03-31: docs.stripe.com/changelog/basil/2025-03-31/invoice-pricing-configurations
 */
const lineItems = (each: string): SourceValue => ({
  each,
  fields: {
    product_id: { first: ['$.price.product', '$.pricing.price_details.product'] },
    price_id: { first: ['$.price.id', '$.pricing.price_details.price'] },
    name: '$.description',
    quantity: '$.quantity',
    price: {
      first: [
        { path: '$.price.unit_amount', as: 'major_units', currency: '$.price.currency' },
        { path: '$.pricing.unit_amount_decimal', as: 'major_units', currency: '$.currency' },
      ],
    },
    value: { path: '$.amount', as: 'major_units', currency: '$.currency' },
  },
});

/** https://docs.stripe.com/api/events/object — `amount…` stay as Stripe sends them, in the currency's smallest unit. */
export const stripe: SourceDefinition = {
  provider: 'stripe',
  source_type: 'payment_processor',
  name: 'Stripe',
  body: 'object',
  event_type_path: '$.type',
  event_id_paths: ['$.id'],
  timestamp_path: '$.created',
  // Unix seconds, except in events of the second version of Stripe's API (docs.stripe.com/api/v2/core/events), which have ISO 8601.
  timestamp_format: null,
  event_name_map: {
    'payment_intent.succeeded': 'Payment Succeeded',
    'payment_intent.payment_failed': 'Payment Failed',
    'payment_intent.created': 'Payment Started',
    'payment_intent.canceled': 'Payment Canceled',
    'payment_intent.processing': 'Payment Processing',
    'charge.succeeded': 'Charge Succeeded',
    'charge.failed': 'Charge Failed',
    'charge.refunded': 'Payment Refunded',
    'charge.dispute.created': 'Dispute Created',
    'charge.dispute.closed': 'Dispute Closed',
    'checkout.session.completed': 'Checkout Completed',
    'checkout.session.expired': 'Checkout Expired',
    'customer.created': 'Customer Created',
    'customer.updated': 'Customer Updated',
    'customer.deleted': 'Customer Deleted',
    'customer.subscription.created': 'Subscription Created',
    'customer.subscription.updated': 'Subscription Updated',
    'customer.subscription.deleted': 'Subscription Canceled',
    'customer.subscription.paused': 'Subscription Paused',
    'customer.subscription.resumed': 'Subscription Resumed',
    'customer.subscription.trial_will_end': 'Subscription Trial Ending',
    'invoice.created': 'Invoice Created',
    'invoice.finalized': 'Invoice Finalized',
    'invoice.paid': 'Invoice Paid',
    'invoice.payment_succeeded': 'Invoice Payment Succeeded',
    'invoice.payment_failed': 'Invoice Payment Failed',
    'invoice.upcoming': 'Invoice Upcoming',
    'invoice.voided': 'Invoice Voided',
  },
  mappings: {
    userId: '$.data.object.customer',
    'properties.stripe_object_id': '$.data.object.id',
    'properties.object': '$.data.object.object',
    'properties.status': '$.data.object.status',
    'properties.currency': { path: CURRENCY, as: 'currency' },
    'properties.livemode': '$.livemode',
    'properties.metadata': '$.data.object.metadata',
  },
  by_type: [
    {
      prefixes: ['payment_intent.', 'charge.'],
      mappings: {
        'properties.value': money('$.data.object.amount'),
        'properties.amount': '$.data.object.amount',
        'properties.amount_received': '$.data.object.amount_received',
        'properties.amount_refunded': '$.data.object.amount_refunded',
        'properties.payment_intent_id': '$.data.object.payment_intent',
        'properties.payment_method_types': '$.data.object.payment_method_types',
        'properties.description': '$.data.object.description',
        'properties.failure_code': '$.data.object.failure_code',
        'properties.error_code': '$.data.object.last_payment_error.code',
        'properties.invoice_id': '$.data.object.invoice',
        'traits.email': '$.data.object.receipt_email',
      },
    },
    // What was given back, which may be a part. https://docs.stripe.com/api/charges/object: all refunds of the charge so far.
    { prefixes: ['charge.refunded'], mappings: { 'properties.value': money('$.data.object.amount_refunded') } },
    {
      prefixes: ['checkout.session.'],
      mappings: {
        'properties.value': money('$.data.object.amount_total'),
        'properties.tax': money('$.data.object.total_details.amount_tax'),
        'properties.shipping': money('$.data.object.total_details.amount_shipping'),
        'properties.discount': money('$.data.object.total_details.amount_discount'),
        'properties.amount': '$.data.object.amount_total',
        'properties.amount_subtotal': '$.data.object.amount_subtotal',
        'properties.mode': '$.data.object.mode',
        'properties.payment_status': '$.data.object.payment_status',
        'properties.payment_intent_id': '$.data.object.payment_intent',
        'properties.subscription_id': '$.data.object.subscription',
        'properties.client_reference_id': '$.data.object.client_reference_id',
        // There only where the sender expanded it.
        'properties.products': lineItems('$.data.object.line_items.data'),
        'traits.email': '$.data.object.customer_details.email',
      },
    },
    {
      prefixes: ['customer.subscription.'],
      mappings: {
        'properties.subscription_id': '$.data.object.id',
        'properties.plan_id': '$.data.object.items.data[0].price.id',
        'properties.product_id': '$.data.object.items.data[0].price.product',
        'properties.value': money('$.data.object.items.data[0].price.unit_amount'),
        'properties.amount': '$.data.object.items.data[0].price.unit_amount',
        'properties.interval': '$.data.object.items.data[0].price.recurring.interval',
        'properties.quantity': '$.data.object.items.data[0].quantity',
        'properties.products': lineItems('$.data.object.items.data'),
        'properties.cancel_at_period_end': '$.data.object.cancel_at_period_end',
        'properties.canceled_at': '$.data.object.canceled_at',
        'properties.trial_end': '$.data.object.trial_end',
      },
    },
    {
      prefixes: ['invoice.'],
      mappings: {
        'properties.invoice_id': '$.data.object.id',
        'properties.invoice_number': '$.data.object.number',
        'properties.value': money('$.data.object.total'),
        'properties.tax': money('$.data.object.tax'),
        'properties.products': lineItems('$.data.object.lines.data'),
        'properties.amount': '$.data.object.amount_due',
        'properties.amount_paid': '$.data.object.amount_paid',
        'properties.amount_remaining': '$.data.object.amount_remaining',
        'properties.total': money('$.data.object.total'),
        'properties.subscription_id': '$.data.object.subscription',
        'properties.billing_reason': '$.data.object.billing_reason',
        'properties.attempt_count': '$.data.object.attempt_count',
        'properties.hosted_invoice_url': '$.data.object.hosted_invoice_url',
        'traits.email': '$.data.object.customer_email',
        'traits.name': '$.data.object.customer_name',
      },
    },
    // Since API version 2025-03-31: docs.stripe.com/changelog/basil/2025-03-31/adds-new-parent-field-to-invoicing-objects
    {
      prefixes: ['invoice.'],
      mappings: { 'properties.subscription_id': '$.data.object.parent.subscription_details.subscription' },
    },
    // They name the object and do not hold it.
    {
      prefixes: ['v1.', 'v2.'],
      mappings: { 'properties.stripe_object_id': '$.related_object.id', 'properties.object': '$.related_object.type' },
    },
    {
      prefixes: ['customer.created', 'customer.updated', 'customer.deleted'],
      mappings: {
        userId: '$.data.object.id',
        'traits.email': '$.data.object.email',
        'traits.name': '$.data.object.name',
        'traits.phone': '$.data.object.phone',
      },
    },
  ],
};
