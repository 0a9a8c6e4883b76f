"""FCoref and LingMess (Otmazgin et al., 2022; 2023), and the package fastcoref itself."""
