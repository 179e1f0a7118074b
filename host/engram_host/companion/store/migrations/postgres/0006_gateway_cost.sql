-- Millionths of the currency that gateway.prices are in.
ALTER TABLE gateway_use ADD COLUMN cost BIGINT NOT NULL DEFAULT 0;
