import argparse


def main() -> None:
    parser = argparse.ArgumentParser(description="Hugging Face checkpoint in, Megatron's distributed form out.")
    parser.add_argument("--hf-checkpoint", required=True)
    parser.add_argument("--save", required=True)
    args = parser.parse_args()

    from megatron.bridge import AutoBridge

    AutoBridge.from_hf_pretrained(args.hf_checkpoint).save_megatron_model(args.save)


if __name__ == "__main__":
    main()
